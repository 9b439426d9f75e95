/** Numbers with their units, as an instrument shows them. */

interface Scale {
  factor: number
  unit: string
}

const SCALES: Record<string, Scale[]> = {
  '%': [{ factor: 0.01, unit: '%' }],
  s: [
    { factor: 1, unit: 's' },
    { factor: 1e-3, unit: 'ms' },
    { factor: 1e-6, unit: 'µs' },
    { factor: 1e-9, unit: 'ns' },
  ],
  'bit/s': [
    { factor: 1e9, unit: 'Gbit/s' },
    { factor: 1e6, unit: 'Mbit/s' },
    { factor: 1e3, unit: 'kbit/s' },
    { factor: 1, unit: 'bit/s' },
  ],
  B: [
    { factor: 1e9, unit: 'GB' },
    { factor: 1e6, unit: 'MB' },
    { factor: 1e3, unit: 'KB' },
    { factor: 1, unit: 'B' },
  ],
}

const SPACE = '\u202f'

/** Beyond this many digits nobody compares numbers by eye. */
const DIGITS = 4

/** The largest unit in which the value is at least one. */
export function scaleFor(largest: number, unit: string): Scale {
  const scales = SCALES[unit]
  const size = Math.abs(largest)
  if (!scales) return { factor: 1, unit: unit === '1' ? '' : unit }
  return (
    scales.find((scale) => size >= scale.factor) ?? scales[size === 0 ? 0 : scales.length - 1] ?? { factor: 1, unit }
  )
}

/** A number with at most four significant digits; whole numbers have all of theirs. */
export function digits(value: number): string {
  const whole = Number.isInteger(value)
  return new Intl.NumberFormat(
    'en',
    whole ? {} : { maximumSignificantDigits: Math.max(DIGITS, String(Math.trunc(Math.abs(value))).length) },
  ).format(value)
}

/** Such as "933.9 Mbit/s"; a missing value is a dash. */
export function withUnit(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–'
  const scale = scaleFor(value, unit)
  return scale.unit ? digits(value / scale.factor) + SPACE + scale.unit : digits(value)
}
