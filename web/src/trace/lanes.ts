/** What each flow did when: from its packets, the acknowledgements that came back, and its timeouts. */

import { tableOf, valuesOf } from '../engine/simulate'
import type { Outcome, Topology } from '../engine/types'
import { firstAbove } from '../ui/chartdata'
import { columnOf, type Hops, type Moments } from './hops'

export const STATES = ['Timeout', 'Sending', 'Handshake', 'Recovering', 'Waiting'] as const
export const TIMEOUT = 0
export const SENDING = 1
/** From the SYN, the request or the first byte to the first packet with data. */
export const HANDSHAKE = 2
/** From the first retransmission until everything is acknowledged that had been sent before it. */
export const RECOVERING = 3
/** Without a packet sent for longer than the shortest round trip. */
export const WAITING_FOR_ACKS = 4

export interface Lane {
  flow: number
  group: string
  source: string
  connection: number
  start: number
  /** When its last byte arrived, or else where the record ends. */
  end: number
  completed: boolean
  timeouts: number
  retransmissions: number
  /** Where each part begins; it ends where the next one does, the last one at `end`. */
  parts: { from: number; state: number }[]
  /** Seconds in each of the states. */
  spent: number[]
}

const SENT = 0
const SENT_AGAIN = 1
const ACKNOWLEDGED = 2

interface Event {
  time: number
  kind: number
  seq: number
}

/** By connection and sending host, what left it and what came back, in order of time. */
function eventsOf(hops: Hops, topology: Topology): Map<number, Event[]> {
  const { crossings } = hops
  const [data, ack, fin] = ['data', 'ack', 'fin'].map((kind) => crossings.kinds.indexOf(kind))
  const found = new Map<number, Event[]>()
  for (let row = 0; row < crossings.rows; row++) {
    const link = topology.links[crossings.link[row] ?? 0]
    const kind = crossings.kind[row]
    if (!link) continue
    const sends = (kind === data || kind === fin) && topology.nodes[link.from]?.kind === 'host'
    const hears = kind === ack && topology.nodes[link.to]?.kind === 'host'
    if (!sends && !hears) continue
    const key = (crossings.connection[row] ?? 0) * topology.nodes.length + (sends ? link.from : link.to)
    const time = crossings.time[row] ?? 0
    const seq = crossings.seq[row] ?? 0
    const event = sends
      ? {
          time: time - link.delay_s - ((crossings.size[row] ?? 0) * 8) / link.rate_bps,
          kind: crossings.retransmitted[row] ? SENT_AGAIN : SENT,
          seq,
        }
      : { time, kind: ACKNOWLEDGED, seq }
    const list = found.get(key)
    if (list) list.push(event)
    else found.set(key, [event])
  }
  for (const list of found.values()) list.sort((one, other) => one.time - other.time)
  return found
}

/** Sequence numbers are modulo 2^32. */
function isAfter(one: number, other: number): boolean {
  return ((one - other) | 0) > 0
}

/** The parts of one flow, put together from its events. */
class Parts {
  readonly list: { from: number; state: number }[] = []
  private last: number
  private quiet: number
  private begun = false
  private highest: number | undefined
  private recover: number | undefined
  private nextTimeout = 0

  constructor(
    start: number,
    private readonly roundTrip: number,
    private readonly timeouts: number[],
  ) {
    this.last = start
    this.quiet = start
  }

  private add(from: number, state: number): void {
    if (this.list.at(-1)?.state !== state) this.list.push({ from, state })
  }

  /** The time since the last packet that was sent. */
  private fill(until: number): void {
    // A timer expires just when its packet leaves: equal but for rounding.
    for (let at = this.timeouts[this.nextTimeout]; at !== undefined && at <= until + 1e-9;) {
      if (this.quiet > this.last) this.add(this.last, this.idleState(this.quiet))
      this.add(Math.min(this.quiet, at), TIMEOUT)
      this.last = at
      this.quiet = at
      this.nextTimeout++
      at = this.timeouts[this.nextTimeout]
    }
    if (until > this.last) this.add(this.last, this.idleState(until))
  }

  private idleState(until: number): number {
    if (!this.begun) return HANDSHAKE
    if (this.recover !== undefined) return RECOVERING
    return until - this.last > this.roundTrip ? WAITING_FOR_ACKS : SENDING
  }

  hear({ time, kind, seq }: Event): void {
    if (kind === ACKNOWLEDGED) {
      this.quiet = time
      if (this.recover !== undefined && !isAfter(this.recover, seq)) {
        this.fill(time)
        this.last = time
        this.recover = undefined
      }
      return
    }
    this.fill(time)
    this.begun = true
    this.last = time
    this.quiet = time
    if (kind === SENT_AGAIN) this.recover ??= this.highest
    if (this.highest === undefined || isAfter(seq, this.highest)) this.highest = seq
  }

  finish(end: number): { from: number; state: number }[] {
    this.fill(end)
    return this.list
  }
}

/** The shortest smoothed round trip of any flow. */
function shortestRoundTrip(outcome: Outcome): number {
  const table = tableOf(outcome, 'probes')
  const names = columnOf(table, 'name')
  const wanted = names?.names.indexOf('srtt') ?? -1
  const values = valuesOf(table, 'value')
  let shortest = Infinity
  for (let row = 0; row < values.length; row++) {
    if (names?.values[row] === wanted) shortest = Math.min(shortest, values[row] ?? Infinity)
  }
  return shortest < Infinity ? shortest : 0
}

function byConnection({ time, connection }: Moments): Map<number, number[]> {
  const found = new Map<number, number[]>()
  time.forEach((at, index) => {
    const key = connection[index] ?? 0
    const list = found.get(key)
    if (list) list.push(at)
    else found.set(key, [at])
  })
  return found
}

/** A lane for each flow that has started. */
export function lanesOf(outcome: Outcome, topology: Topology, hops: Hops, timeouts: Moments): Lane[] {
  const flows = tableOf(outcome, 'flows')
  const column = (name: string) => valuesOf(flows, name)
  const groups = columnOf(flows, 'group')
  const [connections, sources, starts, ends] = ['connection', 'src', 'start_s', 'completion_s'].map(column)
  const [expired, again] = ['timeouts', 'retransmissions'].map(column)
  const events = eventsOf(hops, topology)
  const expiries = byConnection(timeouts)
  const roundTrip = shortestRoundTrip(outcome)
  const lanes: Lane[] = []
  for (let row = 0; row < (flows?.rows ?? 0); row++) {
    const [connection = NaN, source = 0, start = NaN, completion = NaN] = [connections, sources, starts, ends].map(
      (each) => each?.[row],
    )
    if (Number.isNaN(connection) || Number.isNaN(start) || start > hops.until) continue
    // What is still on a link when the run ends is not in the record, but completions are.
    const completed = hops.truncated ? completion <= hops.until : Number.isFinite(completion)
    const end = completed ? completion : hops.until
    const own = (expiries.get(connection) ?? []).filter((time) => time >= start && time <= end)
    const parts = new Parts(start, roundTrip, own)
    for (const event of within(events.get(connection * topology.nodes.length + source) ?? [], start, end)) {
      parts.hear(event)
    }
    lanes.push({
      flow: row,
      group: groups?.names[groups.values[row] ?? 0] ?? '',
      source: topology.nodes[source]?.name ?? '',
      connection,
      start,
      end,
      completed,
      timeouts: expired?.[row] ?? 0,
      retransmissions: again?.[row] ?? 0,
      ...measured(parts.finish(end), end),
    })
  }
  return lanes
}

/** A connection that many flows use, one after the other, has long lists. */
function within(events: Event[], start: number, end: number): Event[] {
  const times = events.map((event) => event.time)
  return events.slice(firstAbove(times, start - 1e-9), firstAbove(times, end))
}

function measured(parts: Lane['parts'], end: number): Pick<Lane, 'parts' | 'spent'> {
  const spent = STATES.map(() => 0)
  parts.forEach(({ from, state }, index) => {
    spent[state] = (spent[state] ?? 0) + (parts[index + 1]?.from ?? end) - from
  })
  return { parts, spent }
}
