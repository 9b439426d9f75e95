import { expect, test } from 'vitest'
import type { Hops } from '../../trace/hops'
import { Clock, comfortable } from './clock'

/** Three packets, two of them after a long silence. */
function hops(): Hops {
  const none = { time: new Float64Array(), link: new Int32Array(), connection: new Float64Array() }
  return {
    count: 3,
    queued: Float64Array.from([1, 200, 201]),
    end: Float64Array.from([2, 203, 204]),
    link: new Int32Array(3),
    row: new Int32Array(3),
    fate: new Uint8Array(3),
    longest: 3,
    unended: 3,
    drops: none,
    marks: none,
    until: 300,
    truncated: false,
    crossings: {} as Hops['crossings'],
  }
}

test('Time goes on at its speed, and passes over silence if that is wished', () => {
  const clock = new Clock(hops(), 0.5)
  clock.playing = true
  clock.advance(1)
  expect(clock.time).toBe(1.5)
  clock.seek(3)
  clock.advance(1)
  expect(clock.time).toBe(200)
  clock.seek(3)
  clock.skipsSilence = false
  clock.advance(1)
  expect(clock.time).toBe(3.5)
})

test('Steps go from arrival to arrival, both ways, and stop the clock', () => {
  const clock = new Clock(hops(), 1)
  clock.playing = true
  const times = [true, true, true, true, false, false].map((forward) => {
    clock.step(forward)
    return clock.time
  })
  expect(times).toEqual([2, 203, 204, 204, 203, 2])
  expect(clock.playing).toBe(false)
})

test('At the end the clock stops', () => {
  const clock = new Clock(hops(), 1000)
  clock.playing = true
  clock.advance(1)
  expect(clock).toMatchObject({ time: 300, playing: false })
})

test('A packet takes about half a second over a link', () => {
  expect(comfortable(37e-6)).toBe(5e-5)
})
