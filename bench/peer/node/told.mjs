// What a program is told by the bench, and what it tells: the protocol of both
// peers. The first argument says what to do, the second how, as JSON. A drain says
// "ready", waits for a line on stdin, and then tells how many jobs it has worked on.
export const [what, how] = [process.argv[2], JSON.parse(process.argv[3])]

export const resultText = how.result

const tellEvery = 20 // milliseconds

/** Bulk calls of a few thousand, each with as many jobs as it is asked for. */
export async function inBulk(insert, make) {
  for (let left = how.jobs; left > 0; left -= how.atOnce) {
    await insert(Array.from({ length: Math.min(left, how.atOnce) }, make))
  }
}

/** Waits until the bench says go, and rejects if it ends instead. */
export function go() {
  return new Promise((resolve, reject) => {
    process.stdin.once('data', resolve)
    process.stdin.once('end', () => reject(new Error('the bench is gone')))
    console.log('ready')
  })
}

/** Ends when the bench closes our stdin. */
export function ended() {
  return new Promise((resolve) => process.stdin.once('end', resolve).resume())
}

/** Returns what counts jobs. The first begin is told at once, how many are done now and then. */
export function counter() {
  let begun = false
  let done = 0
  let told = 0
  const ticks = setInterval(() => {
    if (done !== told) {
      told = done
      console.log(told)
    }
  }, tellEvery)
  return {
    begin() {
      if (!begun) console.log(0)
      begun = true
    },
    add(n) {
      done += n
    },
    stop: () => clearInterval(ticks),
  }
}
