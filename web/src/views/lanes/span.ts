/** The stretch of time that is in view. */

export interface Span {
  from: number
  to: number
}

/** Nothing of interest happens within less than a nanosecond. */
const SHORTEST = 1e-9

/** Within the whole, with its own length as far as that has room. */
export function within({ from, to }: Span, whole: Span): Span {
  const length = Math.min(Math.max(to - from, SHORTEST), whole.to - whole.from)
  const first = Math.min(Math.max(from, whole.from), whole.to - length)
  return { from: first, to: first + length }
}

/** Longer or shorter by a factor; what is at `around` stays where it is. */
export function scaled({ from, to }: Span, factor: number, around: number): Span {
  return { from: around - (around - from) * factor, to: around + (to - around) * factor }
}

export function moved({ from, to }: Span, share: number): Span {
  const by = (to - from) * share
  return { from: from + by, to: to + by }
}

/** Round times in a span, some so many of them. */
export function ticksOf({ from, to }: Span, count: number): number[] {
  const rough = (to - from) / Math.max(count, 1)
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999) ?? rough
  const first = Math.ceil(from / step - 1e-9)
  const last = Math.floor(to / step + 1e-9)
  // A multiple of the step without the noise of binary fractions.
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => (first + index) * step)
}
