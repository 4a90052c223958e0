// pg-boss: batches of 100 jobs, each completed with an output of its own.
import { PgBoss } from 'pg-boss'
import { counter, ended, go, how, inBulk, resultText, what } from './told.mjs'

const queue = 'entry'
const boss = new PgBoss({ connectionString: how.address, max: how.pool, supervise: false, schedule: false })
boss.on('error', (error) => {
  console.error(error)
  process.exitCode = 1
})
await boss.start()
if (what === 'insert') {
  await boss.createQueue(queue)
  await inBulk((jobs) => boss.insert(queue, jobs), () => ({ data: { text: how.text } }))
} else {
  await go()
  const count = counter()
  const output = { text: resultText }
  const options = { batchSize: 100, perJobResults: true, burstWhenBatchFull: true, localConcurrency: how.workers, pollingIntervalSeconds: 0.5 }
  await boss.work(queue, options, async (jobs) => {
    count.begin()
    count.add(jobs.length)
    return jobs.map((job) => ({ id: job.id, status: 'completed', output }))
  })
  await ended()
  count.stop()
}
await boss.stop()
