/** Packets with data, SYNs and FINs as they leave their hosts. */

import type { Outcome, Topology } from '../engine/types'
import { dropsOf, LOSSES_ON_LINK, type Hops } from './hops'

export interface Departure {
  /** When its first bit left. */
  time: number
  connection: number
  node: number
  seq: number
  /** Whether it opens a connection. */
  opens: boolean
  again: boolean
}

/** The table of losses has no sizes: that of the same packet when it is sent again is taken, or else the largest of all. */
class Sizes {
  private readonly sizes = new Map<number, Map<number, number>>()
  private largest = 0

  set(key: number, seq: number, size: number): void {
    this.largest = Math.max(this.largest, size)
    const own = this.sizes.get(key)
    if (own) own.set(seq, size)
    else this.sizes.set(key, new Map([[seq, size]]))
  }

  get(key: number, seq: number): number {
    return this.sizes.get(key)?.get(seq) ?? this.largest
  }
}

/** Calls back for every packet that left its host, also for those that the host's own link lost; not in order of time. */
export function eachDeparture(
  outcome: Outcome,
  topology: Topology,
  { crossings }: Hops,
  hear: (departure: Departure) => void,
): void {
  const isHost = topology.nodes.map((node) => node.kind === 'host')
  const keyOf = (connection: number, node: number) => connection * topology.nodes.length + node
  const kinds = ['data', 'syn', 'fin'].map((kind) => crossings.kinds.indexOf(kind))
  const sizes = new Sizes()
  for (let row = 0; row < crossings.rows; row++) {
    const link = topology.links[crossings.link[row] ?? 0]
    const kind = crossings.kind[row] ?? -1
    if (!link || !isHost[link.from] || !kinds.includes(kind)) continue
    const [connection, seq, size] = [crossings.connection[row] ?? 0, crossings.seq[row] ?? 0, crossings.size[row] ?? 0]
    const time = (crossings.time[row] ?? 0) - link.delay_s - (size * 8) / link.rate_bps
    sizes.set(keyOf(connection, link.from), seq, size)
    const again = crossings.retransmitted[row] === 1
    hear({ time, connection, node: link.from, seq, opens: kind === kinds[1], again })
  }
  const { moments, seq, ack, retransmitted, reason } = dropsOf(outcome, topology)
  moments.time.forEach((lost, at) => {
    const link = topology.links[moments.link[at] ?? -1]
    if (!link || !isHost[link.from] || ack[at] === 1 || !LOSSES_ON_LINK.includes(reason(at))) return
    const [connection, number] = [moments.connection[at] ?? 0, seq[at] ?? 0]
    const size = sizes.get(keyOf(connection, link.from), number)
    const time = lost - link.delay_s - (size * 8) / link.rate_bps
    // Data begins at 1.
    hear({ time, connection, node: link.from, seq: number, opens: number === 0, again: retransmitted[at] === 1 })
  })
}
