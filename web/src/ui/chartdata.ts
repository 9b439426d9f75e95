/** Brings lines with their own x values onto one axis, as uPlot wants them. */

export interface Points {
  /** Rising. */
  x: ArrayLike<number>
  y: ArrayLike<number>
  /** Whether a value holds until the next one. */
  step?: boolean
}

/** uPlot's data: the x values, then the y values of every line. */
export type Aligned = [number[], ...(number | null)[][]]

/** More points than this cannot be told apart on a screen, and would take long to draw. */
const MOST_POINTS = 4000
const BUCKETS = 1000

/** Index of the first value that is larger than `limit`. */
export function firstAbove(x: ArrayLike<number>, limit: number): number {
  let low = 0
  let high = x.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((x[middle] ?? Infinity) > limit) high = middle
    else low = middle + 1
  }
  return low
}

/** The smallest and the largest x of all lines; none without points. */
export function extent(lines: Points[]): [number, number] | undefined {
  const ends = lines
    .filter((line) => line.x.length > 0)
    .flatMap((line) => [line.x[0] ?? 0, line.x[line.x.length - 1] ?? 0])
  return ends.length > 0 ? [Math.min(...ends), Math.max(...ends)] : undefined
}

/** The value of a line at some x: the one that holds there, or that of the nearest point. */
export function valueAt(line: Points, x: number): number | undefined {
  const after = firstAbove(line.x, x)
  const before = after - 1
  if (line.step || after === line.x.length) return line.y[before]
  if (before < 0) return line.y[after]
  return x - (line.x[before] ?? 0) <= (line.x[after] ?? 0) - x ? line.y[before] : line.y[after]
}

/** All points between two ends if they are few; otherwise the lowest and the highest of each small interval. */
export function align(lines: Points[], from: number, to: number): Aligned {
  const spans = lines.map((line) => span(line, from, to))
  const count = spans.reduce((sum, [first, end]) => sum + end - first, 0)
  return count <= MOST_POINTS ? exact(lines, spans) : envelope(lines, spans, from, to)
}

/** The points in view, and one more at each side, to which the line is drawn. */
function span(line: Points, from: number, to: number): [number, number] {
  let first = firstAbove(line.x, from)
  while (first > 0 && (line.x[first - 1] ?? 0) >= from) first--
  return [Math.max(first - 1, 0), Math.min(firstAbove(line.x, to) + 1, line.x.length)]
}

function exact(lines: Points[], spans: [number, number][]): Aligned {
  const all = new Set<number>()
  lines.forEach((line, index) => {
    const [first, end] = spans[index] ?? [0, 0]
    for (let at = first; at < end; at++) all.add(line.x[at] ?? 0)
  })
  const x = [...all].sort((one, other) => one - other)
  const place = new Map(x.map((value, index) => [value, index]))
  const ys = lines.map((line, index) => {
    const [first, end] = spans[index] ?? [0, 0]
    const y = new Array<number | null>(x.length).fill(null)
    // Of several values at one instant the last one holds.
    for (let at = first; at < end; at++) y[place.get(line.x[at] ?? 0) ?? 0] = finite(line.y[at])
    return y
  })
  return [x, ...ys]
}

function envelope(lines: Points[], spans: [number, number][], from: number, to: number): Aligned {
  const width = (to - from) / BUCKETS
  const x = Array.from({ length: 2 * BUCKETS }, (_, index) => from + (index * width) / 2)
  const ys = lines.map((line, index) => {
    const [first, end] = spans[index] ?? [0, 0]
    return lowsAndHighs(line, first, end, from, width)
  })
  return [x, ...ys]
}

function lowsAndHighs(line: Points, first: number, end: number, from: number, width: number): (number | null)[] {
  const y = new Array<number | null>(2 * BUCKETS).fill(null)
  let at = first
  let held: number | null = null
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const limit = from + (bucket + 1) * width
    // A value holds until the next point; the last one is where the line ends.
    let low = line.step && at < line.x.length ? held : null
    let high = low
    for (; at < end && (line.x[at] ?? Infinity) < limit; at++) {
      const value = finite(line.y[at])
      held = value
      if (value === null) continue
      low = low === null ? value : Math.min(low, value)
      high = high === null ? value : Math.max(high, value)
    }
    y[2 * bucket] = low
    y[2 * bucket + 1] = high
  }
  return y
}

function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null
}
