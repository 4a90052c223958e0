// graphile-worker: jobs fetched and completed in batches, each task stores its result.
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { counter, ended, go, how, inBulk, resultText, what } from './told.mjs'

const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message)
})
if (what === 'insert') {
  const utils = await makeWorkerUtils({ connectionString: how.address, logger })
  await utils.migrate()
  await inBulk((jobs) => utils.addJobs(jobs), () => ({ identifier: 'entry', payload: { text: how.text } }))
  await utils.release()
} else {
  await go()
  const count = counter()
  const body = Buffer.from(JSON.stringify({ text: resultText }))
  const store = how.sharing ? shared() : (helpers, id) => helpers.query({ name: 'store', text: how.storeSQL, values: [id, body] })
  const runner = await run({
    preset: {
      worker: {
        connectionString: how.address, concurrentJobs: how.workers, maxPoolSize: how.pool, logger,
        localQueue: { size: how.localQueue }, completeJobBatchDelay: 0, failJobBatchDelay: 0,
      },
    },
    noHandleSignals: true,
    parsedCronItems: [],
    taskList: {
      async entry(_payload, helpers) {
        count.begin()
        await store(helpers, helpers.job.id)
        count.add(1)
      },
    },
  })
  await ended()
  count.stop()
  await runner.stop()

  /** Tasks that want to store at the same time share a statement. */
  function shared() {
    let waiting = null
    return (helpers, id) => {
      if (!waiting) {
        const batch = { ids: [] }
        waiting = batch
        batch.stored = new Promise((resolve, reject) => {
          setImmediate(() => {
            waiting = null
            helpers.query({ name: 'store-many', text: how.storeManySQL, values: [batch.ids, body] }).then(resolve, reject)
          })
        })
      }
      waiting.ids.push(id)
      return waiting.stored
    }
  }
}
