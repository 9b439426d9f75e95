import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Latest } from './latest'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** Work that takes as many milliseconds as its input says. */
function harness() {
  const begun: number[] = []
  const latest = new Latest<number, number>(
    (input, signal) =>
      new Promise((resolve, reject) => {
        begun.push(input)
        setTimeout(() => {
          resolve(input)
        }, input)
        signal.addEventListener('abort', () => {
          reject(new DOMException('cancelled', 'AbortError'))
        })
      }),
  )
  return { begun, latest }
}

test('Of inputs that come while work runs only the last one is worked on', async () => {
  const { begun, latest } = harness()
  for (const input of [100, 101, 102, 103]) latest.ask(input)
  await vi.advanceTimersByTimeAsync(100)
  expect(latest.state.get()).toMatchObject({ busy: true, result: 100 })
  await vi.advanceTimersByTimeAsync(103)
  expect(begun).toEqual([100, 103])
  expect(latest.state.get()).toMatchObject({ busy: false, result: 103 })
})

test('Long work is cancelled for a newer input, and only then', async () => {
  const { begun, latest } = harness()
  latest.ask(60_000)
  await vi.advanceTimersByTimeAsync(1000)
  expect(latest.state.get().busy).toBe(true)
  latest.ask(10)
  await vi.advanceTimersByTimeAsync(11)
  expect(begun).toEqual([60_000, 10])
  expect(latest.state.get()).toMatchObject({ busy: false, result: 10 })
})

test('The timer of cancelled work never reaches the work that follows', async () => {
  const { latest } = harness()
  latest.ask(200)
  latest.ask(2000)
  await vi.advanceTimersByTimeAsync(5000)
  expect(latest.state.get()).toMatchObject({ busy: false, result: 2000, cancelled: false })
})

test('Cancelling keeps the last result', async () => {
  const { latest } = harness()
  latest.ask(10)
  await vi.advanceTimersByTimeAsync(10)
  latest.ask(60_000)
  latest.ask(20)
  latest.cancel()
  await vi.advanceTimersByTimeAsync(1)
  expect(latest.state.get()).toMatchObject({ busy: false, result: 10, cancelled: true })
})

test('A failure is told until something succeeds', async () => {
  const latest = new Latest<boolean, number>((input) => (input ? Promise.resolve(1) : Promise.reject(new Error('no'))))
  latest.ask(false)
  await vi.advanceTimersByTimeAsync(0)
  expect(latest.state.get().error?.message).toBe('no')
  latest.ask(true)
  await vi.advanceTimersByTimeAsync(0)
  expect(latest.state.get()).toMatchObject({ error: undefined, result: 1 })
})
