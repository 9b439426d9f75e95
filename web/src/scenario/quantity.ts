/** Quantities as scenario files write them, such as "64KB", "200us" and "100pkt". */

export type Dimension = 'time' | 'bytes' | 'packets' | 'rate' | 'count'

export interface Quantity {
  /** In seconds, bytes, packets, bit/s. */
  value: number
  dimension: Dimension
}

const PREFIX: Record<string, number> = { '': 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12 }
const BINARY: Record<string, number> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 }
const SMALL: Record<string, number> = { '': 1, m: 1e-3, u: 1e-6, n: 1e-9, p: 1e-12 }

/** The quantity, if it is one. */
export function parseQuantity(text: string): Quantity | undefined {
  const found = /^(\d+(?:\.\d+)?) ?([A-Za-z/]*)$/.exec(text.trim())
  if (!found) return undefined
  const value = Number(found[1])
  const unit = found[2] ?? ''
  if (unit === '') return { value, dimension: 'count' }
  if (unit === 'pkt') return { value, dimension: 'packets' }
  const time = /^([munp]?)s$/.exec(unit)
  if (time) return { value: value * (SMALL[time[1] ?? ''] ?? NaN), dimension: 'time' }
  const amount = /^(|[kKMGT]|[KMGT]i)(B|b|bit(?=\/s))(ps|\/s)?$/.exec(unit)
  if (!amount) return undefined
  const [, prefix = '', letter, per] = amount
  const size = value * (PREFIX[prefix] ?? BINARY[prefix] ?? NaN)
  if (per !== undefined) return { value: letter === 'B' ? 8 * size : size, dimension: 'rate' }
  return letter === 'B' ? { value: size, dimension: 'bytes' } : undefined
}

const UNITS: Record<Exclude<Dimension, 'count' | 'packets'>, [number, string][]> = {
  time: [
    [1, 's'],
    [1e-3, 'ms'],
    [1e-6, 'us'],
    [1e-9, 'ns'],
    [1e-12, 'ps'],
  ],
  bytes: [
    [1e9, 'GB'],
    [1e6, 'MB'],
    [1e3, 'KB'],
    [1, 'B'],
  ],
  rate: [
    [1e9, 'Gbps'],
    [1e6, 'Mbps'],
    [1e3, 'kbps'],
    [1, 'bps'],
  ],
}

/** As a scenario file writes it, in the largest unit in which it is at least one. */
export function writeQuantity({ value, dimension }: Quantity): string {
  if (dimension === 'count') return String(value)
  if (dimension === 'packets') return `${Math.round(value)}pkt`
  const units = UNITS[dimension]
  const [factor, unit] = units.find(([each]) => value >= each * (1 - 1e-9)) ?? [
    1,
    units.find(([each]) => each === 1)?.[1] ?? '',
  ]
  return `${Number((value / factor).toPrecision(6))}${unit}`
}
