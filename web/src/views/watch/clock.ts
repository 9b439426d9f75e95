/** Simulated time as it is watched. */

import { firstAbove } from '../../ui/chartdata'
import { eachAt, type Hops } from '../../trace/hops'

export class Clock {
  time = 0
  playing = false
  /** Simulated seconds in a second. */
  speed: number
  /** Whether time without a packet anywhere is passed over. */
  skipsSilence = true
  private readonly joins: Float64Array
  private readonly ends: Float64Array

  constructor(
    private readonly hops: Hops,
    speed: number,
  ) {
    this.speed = speed
    this.joins = hops.queued.slice().sort()
    this.ends = hops.end.subarray(0, hops.unended)
    this.time = Math.min(this.joins[0] ?? 0, hops.until)
  }

  get until(): number {
    return this.hops.until
  }

  /** Goes on by so many seconds of the one who watches. */
  advance(seconds: number): void {
    if (!this.playing) return
    const next = this.time + seconds * this.speed
    this.seek(this.skipsSilence ? this.pastSilence(this.time, next) : next)
    if (this.time >= this.until) this.playing = false
  }

  private pastSilence(from: number, to: number): number {
    let packets = 0
    eachAt(this.hops, from, () => packets++)
    if (packets > 0) return to
    return Math.max(to, this.joins[firstAbove(this.joins, from)] ?? this.until)
  }

  seek(time: number): void {
    this.time = Math.min(Math.max(time, 0), this.until)
  }

  /** To the next or the last moment of a list at which something happened. */
  jump(times: Float64Array, forward: boolean): boolean {
    const found = forward ? times[firstAbove(times, this.time)] : times[firstBelow(times, this.time)]
    if (found === undefined || found > this.until) return false
    this.playing = false
    this.time = found
    return true
  }

  /** By one arrival of a packet. */
  step(forward: boolean): boolean {
    return this.jump(this.ends, forward)
  }
}

/** Index of the last value that is smaller than `limit`, or -1. */
function firstBelow(times: Float64Array, limit: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? Infinity) >= limit) high = middle
    else low = middle + 1
  }
  return low - 1
}

/** How many moments of a list have happened. */
export function happened(times: Float64Array, time: number): number {
  return firstAbove(times, time)
}

/** Steps of 1, 2 and 5. */
export const SPEEDS = Array.from({ length: 19 }, (_, index) =>
  Number(`${[1, 2, 5][index % 3] ?? 1}e${Math.floor(index / 3) - 6}`),
)

/** The speed at which a packet takes about half a second from port to port. */
export function comfortable(latency: number): number {
  return SPEEDS.findLast((speed) => speed <= 2 * latency) ?? SPEEDS[0] ?? 1e-6
}
