/** When retransmission timers expired. No table has these times, but the timer doubles as it expires, and probes show that. */

import { tableOf, valuesOf } from '../engine/simulate'
import type { Outcome, Topology } from '../engine/types'
import { columnOf, type Hops, type Moments } from './hops'

/** A measured round trip may lengthen the timer, but not to exactly twice its length. */
const NEARLY = 1e-9

interface Moment {
  time: number
  connection: number
}

/** Senders' timers. Those of flows without probes, and those at the end of their back-off, are not found. */
function doublings(outcome: Outcome): Moment[] {
  const table = tableOf(outcome, 'probes')
  const names = columnOf(table, 'name')
  const wanted = names?.names.indexOf('rto') ?? -1
  const times = valuesOf(table, 'time_s')
  const connections = valuesOf(table, 'connection')
  const values = valuesOf(table, 'value')
  const last = new Map<number, number>()
  const found: Moment[] = []
  for (let row = 0; row < times.length; row++) {
    if (names?.values[row] !== wanted) continue
    const connection = connections[row] ?? 0
    const value = values[row] ?? 0
    const before = last.get(connection)
    last.set(connection, value)
    if (before !== undefined && Math.abs(value / before - 2) < NEARLY) found.push({ time: times[row] ?? 0, connection })
  }
  return found
}

/** A SYN is only sent again because its timer expired. */
function repeatedSyns(hops: Hops, topology: Topology): Moment[] {
  const { crossings } = hops
  const syn = crossings.kinds.indexOf('syn')
  const found: Moment[] = []
  for (let row = 0; row < crossings.rows; row++) {
    if (crossings.kind[row] !== syn || !crossings.retransmitted[row]) continue
    const link = topology.links[crossings.link[row] ?? 0]
    if (!link || topology.nodes[link.from]?.kind !== 'host') continue
    const time = (crossings.time[row] ?? 0) - link.delay_s - ((crossings.size[row] ?? 0) * 8) / link.rate_bps
    found.push({ time, connection: crossings.connection[row] ?? 0 })
  }
  return found
}

/** All timeouts that can be placed in time, at the link of the host that sends. */
export function timeoutsOf(outcome: Outcome, topology: Topology, hops: Hops): Moments {
  const syns = repeatedSyns(hops, topology)
  const seen = new Set(syns.map(({ time, connection }) => `${connection}/${time.toFixed(9)}`))
  const others = doublings(outcome).filter(({ time, connection }) => !seen.has(`${connection}/${time.toFixed(9)}`))
  const all = [...syns, ...others].sort((one, other) => one.time - other.time)
  const links = sendingLinks(outcome, topology)
  return {
    time: Float64Array.from(all, (each) => each.time),
    link: Int32Array.from(all, (each) => links.get(each.connection) ?? -1),
    connection: Float64Array.from(all, (each) => each.connection),
  }
}

/** By connection, the first link of its data. */
function sendingLinks(outcome: Outcome, topology: Topology): Map<number, number> {
  const out = new Map<number, number>()
  topology.links.forEach((link, index) => {
    if (!out.has(link.from)) out.set(link.from, index)
  })
  const flows = tableOf(outcome, 'flows')
  const sources = valuesOf(flows, 'src')
  const links = new Map<number, number>()
  valuesOf(flows, 'connection').forEach((connection, row) => {
    const link = out.get(sources[row] ?? -1)
    if (link !== undefined) links.set(connection, link)
  })
  return links
}
