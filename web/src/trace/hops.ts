/** Where every packet was at any time, from the packets that crossed links, the losses and the network. */

import { firstAbove } from '../ui/chartdata'
import { tableOf, valuesOf } from '../engine/simulate'
import type { Column, Outcome, Table, Topology } from '../engine/types'

/** What became of a packet at a port and its link. */
export const ARRIVED = 0
/** Taken out of the queue, for instance pushed out by another packet. */
export const DROPPED = 1
export const LOST_ON_LINK = 2
/** The reasons of such a loss in the table of losses. */
export const LOSSES_ON_LINK: readonly string[] = ['random-loss', 'chosen']
/** Still waiting when the record ends. */
export const WAITING = 3

/** Columns of the table of crossings; a row is a packet at the far end of a link. */
export interface Crossings {
  rows: number
  time: Float64Array
  link: Float64Array
  connection: Float64Array
  kind: Float64Array
  /** The words of `kind`. */
  kinds: string[]
  seq: Float64Array
  size: Float64Array
  marked: Float64Array
  retransmitted: Float64Array
}

/** A loss, a mark or a timeout, where it happened. */
export interface Moments {
  time: Float64Array
  /** The port, as the index of its link. */
  link: Int32Array
  connection: Float64Array
}

/** A row for each packet and each link that it wanted to cross, in order of `end`. */
export interface Hops {
  count: number
  crossings: Crossings
  /** Row of crossings with the packet's size, kind and marks. */
  row: Int32Array
  link: Int32Array
  /** When it came to the port. The queues of hosts are not in the record: there a packet comes when its transmission begins. */
  queued: Float64Array
  /** When its last bit arrived at the far end, or when it was lost; infinite for those that wait to the end. */
  end: Float64Array
  fate: Uint8Array
  /** The longest time from `queued` to a finite `end`. */
  longest: number
  /** Rows from here on have no end. */
  unended: number
  drops: Moments
  marks: Moments
  /** The record is complete up to this time. */
  until: number
  /** Whether the record ends before the run does. */
  truncated: boolean
}

export function columnOf(table: Table | undefined, name: string): Column | undefined {
  return table?.columns.find((column) => column.name === name)
}

function crossingsOf(table: Table | undefined): Crossings {
  const column = (name: string) => valuesOf(table, name)
  return {
    rows: table?.rows ?? 0,
    time: column('time_s'),
    link: column('link'),
    connection: column('connection'),
    kind: column('kind'),
    kinds: columnOf(table, 'kind')?.names ?? [],
    seq: column('seq'),
    size: column('size_bytes'),
    marked: column('ce'),
    retransmitted: column('retransmitted'),
  }
}

/** Time from the first bit's departure to the last bit's arrival. */
function latency(topology: Topology, link: number, bytes: number): number {
  const found = topology.links[link]
  return found ? found.delay_s + (bytes * 8) / found.rate_bps : 0
}

/** When the first bit of a row left its port; infinite if it never did. */
export function began(hops: Hops, topology: Topology, at: number): number {
  const fate = hops.fate[at]
  if (fate === DROPPED || fate === WAITING) return Infinity
  const bytes = hops.crossings.size[hops.row[at] ?? 0] ?? 0
  return (hops.end[at] ?? 0) - latency(topology, hops.link[at] ?? 0, bytes)
}

/** When a row left its port: with its last bit, or when it was dropped. */
export function left(hops: Hops, topology: Topology, at: number): number {
  const end = hops.end[at] ?? 0
  const fate = hops.fate[at]
  if (fate === DROPPED || fate === WAITING) return end
  return end - (topology.links[hops.link[at] ?? 0]?.delay_s ?? 0)
}

/** Packets at switches that have not left them, found again by what they are. */
class Pending {
  private readonly first: Map<number, number>[]
  private readonly next: Int32Array

  constructor(
    private readonly crossings: Crossings,
    nodes: number,
  ) {
    this.first = Array.from({ length: nodes }, () => new Map<number, number>())
    this.next = new Int32Array(crossings.rows).fill(-1)
  }

  private key(connection: number, kind: number, seq: number): number {
    return (connection * 8 + kind) * 2 ** 32 + seq
  }

  push(node: number, row: number): void {
    const { connection, kind, seq } = this.crossings
    const key = this.key(connection[row] ?? 0, kind[row] ?? 0, seq[row] ?? 0)
    const map = this.first[node]
    let last = map?.get(key)
    if (last === undefined) {
      map?.set(key, row)
      return
    }
    for (let after = this.next[last] ?? -1; after >= 0; after = this.next[last] ?? -1) last = after
    this.next[last] = row
  }

  /** Takes out the packet that a row of crossings shows on its next link: of equal ones, the first that came. */
  takeFor(node: number, row: number): number {
    const { connection, kind, seq, size } = this.crossings
    const like = (other: number) => size[other] === size[row]
    return this.take(node, this.key(connection[row] ?? 0, kind[row] ?? 0, seq[row] ?? 0), like, false)
  }

  /** Takes out a lost packet. Most are lost as they come; of others it is the last one if it was pushed out. */
  takeLost(node: number, connection: number, kinds: number[], seq: number, time: number, newest: boolean): number {
    const keys = kinds.map((kind) => this.key(connection, kind, seq))
    for (const key of keys) {
      const found = this.take(node, key, (row) => this.crossings.time[row] === time, false)
      if (found >= 0) return found
    }
    for (const key of keys) {
      const found = this.take(node, key, () => true, newest)
      if (found >= 0) return found
    }
    return -1
  }

  private take(node: number, key: number, wanted: (row: number) => boolean, newest: boolean): number {
    const map = this.first[node]
    let found = -1
    let beforeFound = -1
    let before = -1
    for (let row = map?.get(key) ?? -1; row >= 0; before = row, row = this.next[row] ?? -1) {
      if (!wanted(row)) continue
      found = row
      beforeFound = before
      if (!newest) break
    }
    if (found < 0) return -1
    const after = this.next[found] ?? -1
    if (beforeFound >= 0) this.next[beforeFound] = after
    else if (after >= 0) map?.set(key, after)
    else map?.delete(key)
    this.next[found] = -1
    return found
  }

  /** All that are left, with their nodes. */
  rest(): number[] {
    const rows = this.first.flatMap((map) => [...map.values()])
    const all: number[] = []
    for (let row of rows) for (; row >= 0; row = this.next[row] ?? -1) all.push(row)
    return all.sort((one, other) => one - other)
  }
}

/** Collects rows in order of their end. */
class Builder {
  readonly pending: Pending
  private readonly row: Int32Array
  private readonly link: Int32Array
  private readonly queued: Float64Array
  private readonly end: Float64Array
  private readonly fate: Uint8Array
  private count = 0
  private longest = 0
  private readonly marks: { time: number; link: number; connection: number }[] = []
  /** By connection and incoming link, the link on which its packets went on. */
  private readonly routes = new Map<number, number>()

  constructor(
    private readonly crossings: Crossings,
    private readonly topology: Topology,
    capacity: number,
  ) {
    this.pending = new Pending(crossings, topology.nodes.length)
    this.row = new Int32Array(capacity)
    this.link = new Int32Array(capacity)
    this.queued = new Float64Array(capacity)
    this.end = new Float64Array(capacity)
    this.fate = new Uint8Array(capacity)
  }

  add(row: number, link: number, queued: number, end: number, fate: number): void {
    const at = this.count++
    this.row[at] = row
    this.link[at] = link
    this.queued[at] = queued
    this.end[at] = end
    this.fate[at] = fate
    if (end - queued > this.longest && end < Infinity) this.longest = end - queued
  }

  private isSwitch(node: number): boolean {
    return this.topology.nodes[node]?.kind === 'switch'
  }

  /** A packet has arrived at the far end of a link. */
  cross(row: number): void {
    const { time, link, marked, connection, size } = this.crossings
    const number = link[row] ?? 0
    const wire = this.topology.links[number]
    if (!wire) return
    const end = time[row] ?? 0
    let queued = end - latency(this.topology, number, size[row] ?? 0)
    const came = this.isSwitch(wire.from) ? this.pending.takeFor(wire.from, row) : -1
    if (came >= 0) {
      queued = Math.min(time[came] ?? 0, queued)
      this.routes.set(this.routeKey(came), number)
      if (marked[row] && !marked[came])
        this.marks.push({ time: queued, link: number, connection: connection[row] ?? 0 })
    }
    this.add(row, number, queued, end, ARRIVED)
    if (this.isSwitch(wire.to)) this.pending.push(wire.to, row)
  }

  private routeKey(row: number): number {
    const { connection, link } = this.crossings
    return (connection[row] ?? 0) * this.topology.links.length + (link[row] ?? 0)
  }

  /** A packet is lost at the port of a link, or on it. */
  lose(drops: Drops, at: number): void {
    const link = drops.moments.link[at] ?? -1
    const from = this.topology.links[link]?.from ?? -1
    if (!this.isSwitch(from)) return
    const time = drops.moments.time[at] ?? 0
    const reason = drops.reason(at)
    const kinds = this.crossings.kinds.flatMap((kind, index) => {
      const ack = kind === 'ack' || kind === 'syn-ack'
      return kind === 'fin' || ack === Boolean(drops.ack[at]) ? [index] : []
    })
    const connection = drops.moments.connection[at] ?? 0
    const row = this.pending.takeLost(from, connection, kinds, drops.seq[at] ?? 0, time, reason === 'pushed-out')
    const came = this.crossings.time[row] ?? time
    if (row < 0 || came === time) return
    this.add(row, link, came, time, LOSSES_ON_LINK.includes(reason) ? LOST_ON_LINK : DROPPED)
  }

  finish(drops: Moments, end: number, truncated: boolean): Hops {
    const unended = this.count
    const rest = this.pending.rest()
    for (const row of rest) {
      const link = this.routes.get(this.routeKey(row))
      if (link !== undefined) this.add(row, link, this.crossings.time[row] ?? 0, Infinity, WAITING)
    }
    const { count } = this
    const largest = this.crossings.size.reduce((most, each) => Math.max(most, each), 0)
    const latest = Math.max(0, ...this.topology.links.map((_, link) => latency(this.topology, link, largest)))
    const marks = this.marks.sort((one, other) => one.time - other.time)
    return {
      count,
      crossings: this.crossings,
      row: this.row.subarray(0, count),
      link: this.link.subarray(0, count),
      queued: this.queued.subarray(0, count),
      end: this.end.subarray(0, count),
      fate: this.fate.subarray(0, count),
      longest: this.longest,
      unended,
      drops,
      marks: {
        time: Float64Array.from(marks, (each) => each.time),
        link: Int32Array.from(marks, (each) => each.link),
        connection: Float64Array.from(marks, (each) => each.connection),
      },
      // What is on a link when the record ends is not in it.
      until: rest.length > 0 || truncated ? Math.max(end - latest, 0) : end,
      truncated,
    }
  }
}

/** The table of losses. */
export interface Drops {
  moments: Moments
  seq: Float64Array
  ack: Float64Array
  retransmitted: Float64Array
  reason: (at: number) => string
}

export function dropsOf(outcome: Outcome, topology: Topology): Drops {
  const table = tableOf(outcome, 'drops')
  const ports = columnOf(table, 'port')
  const numbers = new Map(topology.links.map((link, index) => [link.name, index]))
  const byCode = (ports?.names ?? []).map((name) => numbers.get(name) ?? -1)
  const reasons = columnOf(table, 'reason')
  return {
    moments: {
      time: valuesOf(table, 'time_s'),
      link: Int32Array.from(ports?.values ?? [], (code) => byCode[code] ?? -1),
      connection: valuesOf(table, 'connection'),
    },
    seq: valuesOf(table, 'seq'),
    ack: valuesOf(table, 'ack'),
    retransmitted: valuesOf(table, 'retransmitted'),
    reason: (at) => reasons?.names[reasons.values[at] ?? 0] ?? '',
  }
}

/**
 * Derives where packets were. A packet that a switch's agent keeps before it forwards it counts as queued for that time.
 * Links whose rate a fault changes are taken at their first rate.
 */
export function hopsOf(outcome: Outcome, topology: Topology): Hops {
  const crossings = crossingsOf(tableOf(outcome, 'crossings'))
  const drops = dropsOf(outcome, topology)
  const lost = drops.moments.time.length
  const ended = Number(outcome.summary.simulated_s)
  const hops = Number(outcome.summary.packet_hops)
  const all = Number(outcome.summary.drops)
  const ends = [ended]
  if (crossings.rows < hops) ends.push(crossings.time[crossings.rows - 1] ?? 0)
  if (lost < all) ends.push(drops.moments.time[lost - 1] ?? 0)
  // Each crossing may be followed by a wait that has no end.
  const builder = new Builder(crossings, topology, 2 * crossings.rows + lost)
  let next = 0
  for (let row = 0; row < crossings.rows; row++) {
    const time = crossings.time[row] ?? 0
    for (; next < lost && (drops.moments.time[next] ?? 0) < time; next++) builder.lose(drops, next)
    builder.cross(row)
  }
  for (; next < lost; next++) builder.lose(drops, next)
  return builder.finish(drops.moments, Math.min(...ends), ends.length > 1)
}

/** Calls back for every row at a port or on a link at a time; those of one port come in the order in which they leave. */
export function eachAt(hops: Hops, time: number, hear: (at: number) => void): void {
  const { queued, end, unended, count } = hops
  const ended = end.subarray(0, unended)
  const last = firstAbove(ended, time + hops.longest)
  for (let at = firstAbove(ended, time); at < last; at++) if ((queued[at] ?? 0) <= time) hear(at)
  for (let at = unended; at < count; at++) if ((queued[at] ?? 0) <= time) hear(at)
}

/** Packets at a port at a time, the one in transmission included. */
export function backlogAt(hops: Hops, topology: Topology, link: number, time: number): number {
  let packets = 0
  eachAt(hops, time, (at) => {
    if (hops.link[at] === link && left(hops, topology, at) > time) packets++
  })
  return packets
}
