/** Means over seeds and their 95 % confidence intervals, as `fanin.numbers.stats` has them. */

/** Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom. */
export const T_95 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
]

/** Below this many seeds there is no interval. */
export const FEWEST = 3

export interface MeanInterval {
  mean: number
  /** Half of the interval; NaN if there is none. */
  half: number
}

/** Beyond 30 degrees of freedom by the expansion in 1/degrees. */
export function tQuantile(degrees: number): number {
  const z = 1.959964
  return (
    T_95[degrees - 1] ?? z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2)
  )
}

export function meanInterval(values: number[]): MeanInterval {
  const count = values.length
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  if (count < FEWEST || !Number.isFinite(mean)) return { mean, half: NaN }
  if (values.every((value) => value === values[0])) return { mean: values[0] ?? NaN, half: 0 }
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, half: (tQuantile(count - 1) * Math.sqrt(squares / (count - 1))) / Math.sqrt(count) }
}

/** A mean over seeds, and the ends of what is drawn around it. */
export interface Spread {
  mean: number
  /** NaN if there is no interval. */
  low: number
  high: number
}

/** Whether the values fall into two groups far apart, by the rule of the Python package (`numbers/stats.py`). */
function hasTwoModes(values: number[]): boolean {
  const sorted = [...values].sort((one, other) => one - other)
  if (sorted.length < 3 || !sorted.every(Number.isFinite)) return false
  const gap = Math.max(...sorted.slice(1).map((value, place) => value - (sorted[place] ?? NaN)))
  const range = Math.max(...sorted) - Math.min(...sorted)
  return gap > 0.5 * Math.max(...sorted.map(Math.abs)) && gap >= 0.75 * range
}

/**
 * A mean with its interval, or with quantiles of the seeds where the interval contains what cannot be (values below zero if
 * none of the seeds has one, or above `most`), or where no seed is near the mean. Student's interval of few seeds, of which
 * some collapse, reaches there.
 */
export function spread(values: number[], most = Infinity): Spread {
  const { mean, half } = meanInterval(values)
  const [low, high] = [mean - half, mean + half]
  const canBe = (low >= 0 || Math.min(...values) < 0) && (high <= most || Math.max(...values) > most)
  if (Number.isNaN(half) || (canBe && !hasTwoModes(values))) return { mean, low, high }
  return { mean, low: percentile(values, 2.5), high: percentile(values, 97.5) }
}

/** Nearest rank: the smallest value that this percentage of the values does not exceed. */
export function percentile(values: number[], percent: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.max(Math.ceil((percent * values.length) / 100 - 1e-9), 1) - 1] ?? NaN
}

/** More steps than this cannot be told apart in a figure. */
const MOST_STEPS = 600

/** Share of values that are at most x, at each distinct value, or at so many of them, evenly by rank. */
export function distribution(values: ArrayLike<number>): { x: number[]; y: number[] } {
  const sorted = Array.from(values)
    .filter((value) => Number.isFinite(value))
    .sort((one, other) => one - other)
  const x: number[] = []
  const y: number[] = []
  sorted.forEach((value, index) => {
    const last = index + 1 === sorted.length
    if (sorted[index + 1] === value) return
    const step = Math.floor(((index + 1) * MOST_STEPS) / sorted.length)
    if (sorted.length > MOST_STEPS && !last && step === Math.floor((index * MOST_STEPS) / sorted.length)) return
    x.push(value)
    y.push((index + 1) / sorted.length)
  })
  return { x, y }
}
