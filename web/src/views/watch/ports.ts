/** Ports whose queues are drawn, and the limits of these. */

import { tableOf, valuesOf } from '../../engine/simulate'
import type { ResolvedValue } from '../../engine/types'
import { parseQuantity } from '../../scenario/quantity'
import { columnOf } from '../../trace/hops'
import type { Trace } from '../../trace/session'

export interface Port {
  link: number
  name: string
  bottleneck: boolean
  /** Whether the buffer is counted in packets, otherwise in bytes. */
  inPackets: boolean
  /** What the drawn queue holds if it is full. */
  capacity: number
  /** Whether the buffer is not limited: then the capacity is the largest queue of the run. */
  unlimited: boolean
  maxPackets: number
  maxBytes: number
  drops: number
  marks: number
}

export interface Threshold {
  label: string
  value: number
  inPackets: boolean
}

function valueOf(values: ResolvedValue[] | undefined, path: string): string {
  return values?.find((each) => each.path === path)?.value ?? ''
}

/** Ports of switches at which packets wait, the bottleneck first. */
export function portsOf({ outcome, topology, values }: Trace): Port[] {
  const table = tableOf(outcome, 'queues')
  const names = columnOf(table, 'port')
  const links = new Map(topology.links.map((link, index) => [link.name, index]))
  const column = (name: string) => valuesOf(table, name)
  const [packets, bytes, drops, marks] = ['max_packets', 'max_bytes', 'drops', 'marks'].map(column)
  const own = parseQuantity(valueOf(values, 'network.buffer'))
  const inPackets = own?.dimension === 'packets'
  const limit = own?.value ?? 0
  // Under shared memory no port has a limit of its own.
  const shared = (valueOf(values, 'network.admission') || 'static') !== 'static'
  const ports = (names?.values ?? new Float64Array()).length
  return Array.from({ length: ports }, (_, row): Port => {
    const name = names?.names[names.values[row] ?? 0] ?? ''
    const link = links.get(name) ?? -1
    const buffer = shared ? null : (topology.links[link]?.buffer_bytes ?? null)
    const [maxPackets, maxBytes] = [packets?.[row] ?? 0, bytes?.[row] ?? 0]
    return {
      link,
      name,
      bottleneck: topology.links[link]?.bottleneck ?? false,
      inPackets,
      capacity: buffer === null ? (inPackets ? maxPackets : maxBytes) : inPackets ? limit : buffer,
      unlimited: buffer === null,
      maxPackets,
      maxBytes,
      drops: drops?.[row] ?? 0,
      marks: marks?.[row] ?? 0,
    }
  })
    .filter((port) => port.link >= 0 && (port.bottleneck || port.maxPackets > 1))
    .sort((one, other) => Number(other.bottleneck) - Number(one.bottleneck))
}

/** Thresholds of the queue and of the scheme in use. */
export function thresholdsOf(values: ResolvedValue[] | undefined): Threshold[] {
  const scheme = valueOf(values, 'transport.scheme')
  return (values ?? []).flatMap(({ path, value }) => {
    const ours = path.startsWith('queue.') || path.startsWith(`scheme.${scheme}.`)
    const quantity = ours && /threshold|\.start$|\.stop$/.test(path) ? parseQuantity(value) : undefined
    if (!quantity || quantity.value <= 0) return []
    if (quantity.dimension !== 'packets' && quantity.dimension !== 'bytes') return []
    const label = `${path.split('.').at(-1) ?? path} ${value}`
    return [{ label, value: quantity.value, inPackets: quantity.dimension === 'packets' }]
  })
}
