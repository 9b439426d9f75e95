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

/** Share of values that are at most x, at each distinct value. */
export function distribution(values: ArrayLike<number>): { x: number[]; y: number[] } {
  const sorted = Array.from(values)
    .filter((value) => Number.isFinite(value))
    .sort((one, other) => one - other)
  const x: number[] = []
  const y: number[] = []
  sorted.forEach((value, index) => {
    if (sorted[index + 1] === value) return
    x.push(value)
    y.push((index + 1) / sorted.length)
  })
  return { x, y }
}
