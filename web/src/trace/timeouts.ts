/**
 * When retransmission timers expired. No table has these times. A timer doubles as it expires, and probes show that; other
 * timeouts are known from what is sent again then.
 */

import { tableOf, valuesOf } from '../engine/simulate'
import type { Outcome, Topology } from '../engine/types'
import { eachDeparture, type Departure } from './departures'
import { append, grouped } from './grouped'
import { columnOf, type Hops, type Moments } from './hops'

/** A measured round trip may lengthen the timer, but not to exactly twice its length. */
const NEARLY = 1e-9

/** Timeouts, and whose they are. */
export interface Timeouts extends Moments {
  /** Row in the table of flows; -1 for those after the last byte of a transfer. */
  flow: Int32Array
}

interface Moment {
  time: number
  connection: number
  /** The transfer; none after its last byte. */
  transfer?: Transfer | undefined
  /** Whose timer it is. */
  node: number
}

/** Rows of the table of flows. */
interface Transfer {
  row: number
  connection: number
  from: number
  to: number
  start: number
  end: number
  /** Timeouts that are not found yet. */
  missing: number
}

function transfersOf(outcome: Outcome): Transfer[] {
  const table = tableOf(outcome, 'flows')
  const column = (name: string) => valuesOf(table, name)
  const [from, to, start, end, timeouts] = ['src', 'dst', 'start_s', 'completion_s', 'timeouts'].map(column)
  return Array.from(column('connection'), (connection, row) => ({
    row,
    connection,
    from: from?.[row] ?? -1,
    to: to?.[row] ?? -1,
    start: start?.[row] ?? NaN,
    end: end?.[row] ?? NaN,
    missing: timeouts?.[row] ?? 0,
  }))
}

/** By connection, the length of the sender's timer whenever it changed. Not all senders may have been probed. */
type Timers = Map<number, { time: number; length: number }[]>

function timersOf(outcome: Outcome): Timers {
  const table = tableOf(outcome, 'probes')
  const names = columnOf(table, 'name')
  const wanted = names?.names.indexOf('rto') ?? -1
  const times = valuesOf(table, 'time_s')
  const lengths = valuesOf(table, 'value')
  const timers: Timers = new Map()
  valuesOf(table, 'connection').forEach((connection, row) => {
    if (names?.values[row] !== wanted) return
    append(timers, connection, { time: times[row] ?? 0, length: lengths[row] ?? 0 })
  })
  return timers
}

function isDoubling(changes: { length: number }[], index: number): boolean {
  return Math.abs((changes[index]?.length ?? NaN) / (changes[index - 1]?.length ?? NaN) - 2) < NEARLY
}

function doublings(timers: Timers, sources: Map<number, number>): Moment[] {
  return [...timers].flatMap(([connection, changes]) =>
    changes
      .filter((_, index) => isDoubling(changes, index))
      .map(({ time }) => ({ time, connection, node: sources.get(connection) ?? -1 })),
  )
}

/**
 * At the end of its back-off a timer doubles no more: a packet is sent again after its whole length, the same one once more, or,
 * if acknowledgements came that measured no round trip, a later one.
 */
function undoubled(timers: Timers, again: Departure[]): Moment[] {
  const last = new Map<number, Departure>()
  return again.filter((departure) => {
    const { connection, seq, time } = departure
    const before = last.get(connection)
    last.set(connection, departure)
    const changes = timers.get(connection) ?? []
    const index = changes.findLastIndex((change) => change.time < time - NEARLY)
    const length = changes[index]?.length ?? Infinity
    return (
      before !== undefined &&
      time - before.time >= length - NEARLY &&
      (before.seq === seq || isDoubling(changes, index))
    )
  })
}

/** The far ends of connections on which hosts send that have no row in the table of flows: those of requests. */
function receiversOf(hops: Hops, topology: Topology, connections: Set<number>): Map<number, number> {
  const { crossings } = hops
  const [ack, accepts] = ['ack', 'syn-ack'].map((kind) => crossings.kinds.indexOf(kind))
  const found = new Map<number, number>()
  for (let row = 0; row < crossings.rows && found.size < connections.size; row++) {
    const connection = crossings.connection[row] ?? 0
    const kind = crossings.kind[row]
    const to = topology.links[crossings.link[row] ?? 0]?.to ?? -1
    if (kind === ack || kind === accepts || !connections.has(connection)) continue
    if (topology.nodes[to]?.kind === 'host') found.set(connection, to)
  }
  return found
}

/** Packets that were sent again, in order of time. */
interface Again {
  /** By those who send the data of transfers. */
  opening: Departure[]
  data: Departure[]
  /** By those who ask for it: these connections have no row in the table of flows. */
  asking: Departure[]
}

function sentAgain(outcome: Outcome, topology: Topology, hops: Hops, transfers: Transfer[]): Again {
  const senders = new Set(transfers.map(({ connection, from }) => `${connection}/${from}`))
  const found: Again = { opening: [], data: [], asking: [] }
  eachDeparture(outcome, topology, hops, (departure) => {
    if (!departure.again) return
    if (!senders.has(`${departure.connection}/${departure.node}`)) found.asking.push(departure)
    else if (departure.opens) found.opening.push(departure)
    else found.data.push(departure)
  })
  for (const list of Object.values(found) as Departure[][]) list.sort((one, other) => one.time - other.time)
  return found
}

/**
 * Requests are only sent again because a timer expired. They belong to the transfer that they are for: the last one between
 * these hosts that had begun, and of whose timeouts some are not found yet.
 */
function ofRequests(asking: Departure[], topology: Topology, hops: Hops, transfers: Transfer[]): Moment[] {
  const receivers = receiversOf(hops, topology, new Set(asking.map(({ connection }) => connection)))
  return asking.flatMap(({ time, connection, node }) => {
    const server = receivers.get(connection)
    const transfer = transfers.findLast(
      ({ from, to, start, end, missing }) =>
        from === server && to === node && start < time && !(end < time) && missing > 0,
    )
    if (!transfer) return []
    transfer.missing--
    return [{ time, connection: transfer.connection, transfer, node }]
  })
}

/** All timeouts that can be placed in time, at the link of the host whose timer it is. */
export function timeoutsOf(outcome: Outcome, topology: Topology, hops: Hops): Timeouts {
  const transfers = transfersOf(outcome)
  const sources = new Map(transfers.map(({ connection, from }) => [connection, from]))
  const byConnection = grouped(transfers, ({ connection }) => connection)
  const timers = timersOf(outcome)
  const again = sentAgain(outcome, topology, hops, transfers)
  const seen = new Set<string>()
  const all: Moment[] = []
  // A SYN is only sent again because its timer expired, which may have doubled as well.
  for (const moment of [...doublings(timers, sources), ...again.opening, ...undoubled(timers, again.data)]) {
    const { time, connection, node } = moment
    const key = `${connection}/${time.toFixed(9)}`
    if (seen.has(key)) continue
    seen.add(key)
    const transfer = byConnection.get(connection)?.find(({ start, end }) => start <= time && !(end < time))
    if (transfer) transfer.missing--
    all.push({ time, connection, transfer, node })
  }
  all.push(...ofRequests(again.asking, topology, hops, transfers))
  all.sort((one, other) => one.time - other.time)
  const links = new Map(topology.links.map((link, index): [number, number] => [link.from, index]).reverse())
  return {
    time: Float64Array.from(all, (each) => each.time),
    link: Int32Array.from(all, (each) => links.get(each.node) ?? -1),
    connection: Float64Array.from(all, (each) => each.connection),
    flow: Int32Array.from(all, ({ transfer }) => transfer?.row ?? -1),
  }
}
