/** What each flow did when: from its packets, the acknowledgements that came back, and its timeouts. */

import { labelsOf, tableOf, valuesOf } from '../engine/simulate'
import type { Outcome, Topology } from '../engine/types'
import { firstAbove } from '../ui/chartdata'
import { eachDeparture } from './departures'
import { append, grouped } from './grouped'
import type { Hops } from './hops'
import type { Timeouts } from './timeouts'

/** A recorded run with what is derived from it. */
export interface Derived {
  outcome: Outcome
  topology: Topology
  hops: Hops
  timeouts: Timeouts
}

/** States of a flow, as indices into `STATES`. */
export const HANDSHAKE = 0
export const SENDING = 1
export const WAITING = 2
export const RECOVERING = 3
export const TIMEOUT = 4

export interface State {
  name: string
  meaning: string
}

export const STATES: readonly [State, State, State, State, State] = [
  { name: 'Handshake', meaning: 'from the SYN or the request until the first data is sent' },
  { name: 'Sending', meaning: 'packets leave, one within a round trip after the other' },
  { name: 'Waiting', meaning: 'no packet leaves for longer than the shortest round trip of the run' },
  { name: 'Recovering', meaning: 'from a retransmission until everything that was sent before it is acknowledged' },
  { name: 'Timeout', meaning: 'nothing is sent and nothing comes back until the retransmission timer expires' },
]

/** A part of a flow's time that it spent in one state. */
export interface Part {
  from: number
  to: number
  state: number
}

export interface Lane {
  /** Its row in the table of flows. */
  flow: number
  group: string
  /** Index of the sending node, and its name. */
  node: number
  source: string
  /** None as long as it is being opened. */
  connection: number
  start: number
  /** When its last byte arrived, or else where the record ends. */
  end: number
  completed: boolean
  /** Of the whole run, as the engine counted them. */
  timeouts: number
  retransmissions: number
  /** One after the other, from `start` to `end`; a part for each timeout that has a known time. */
  parts: Part[]
  /** Seconds in each of the states. */
  spent: number[]
}

/** Times are sums and differences of binary fractions. */
const NEARLY = 1e-9

interface Event {
  time: number
  /** Whether it is an acknowledgement that came back; otherwise it is a packet that left. */
  heard: boolean
  again: boolean
  seq: number
}

/** Sequence numbers are modulo 2^32. */
function isAfter(one: number, other: number): boolean {
  return ((one - other) | 0) > 0
}

/** What senders did and heard: a list for each connection and sending host. */
class Collector {
  private readonly found = new Map<number, Event[]>()
  private readonly nodes: number

  constructor({ outcome, topology, hops }: Derived) {
    this.nodes = topology.nodes.length
    eachDeparture(outcome, topology, hops, ({ time, connection, node, seq, again, opens }) => {
      if (!opens) this.add(connection, node, { time, heard: false, again, seq })
    })
    const { crossings } = hops
    const ack = crossings.kinds.indexOf('ack')
    for (let row = 0; row < crossings.rows; row++) {
      const to = topology.links[crossings.link[row] ?? 0]?.to ?? -1
      if (crossings.kind[row] !== ack || topology.nodes[to]?.kind !== 'host') continue
      const [time, seq] = [crossings.time[row] ?? 0, crossings.seq[row] ?? 0]
      this.add(crossings.connection[row] ?? 0, to, { time, heard: true, again: false, seq })
    }
    for (const list of this.found.values()) list.sort((one, other) => one.time - other.time)
  }

  of(connection: number, node: number): Event[] {
    return this.found.get(connection * this.nodes + node) ?? []
  }

  private add(connection: number, node: number, event: Event): void {
    append(this.found, connection * this.nodes + node, event)
  }

  /** The shortest time from a packet to an acknowledgement of it. */
  shortestRoundTrip(): number {
    let shortest = Infinity
    for (const list of this.found.values()) {
      // The latest packet that was sent but once, and that nothing has acknowledged yet.
      let sent: Event | undefined
      for (const event of list) {
        if (!event.heard) sent = event.again ? undefined : event
        else if (sent && isAfter(event.seq, sent.seq)) {
          shortest = Math.min(shortest, event.time - sent.time)
          sent = undefined
        }
      }
    }
    return shortest < Infinity ? shortest : 0
  }
}

/** The parts of one flow, put together from its events. */
class Parts {
  private readonly list: { from: number; state: number }[] = []
  /** Up to here the states are known. */
  private known: number
  /** When a packet left or something came back for the last time. */
  private quiet: number
  private begun = false
  private highest: number | undefined
  /** The last packet that was sent before the recovery. */
  private recover: number | undefined
  private nextTimeout = 0

  constructor(
    private readonly start: number,
    private readonly roundTrip: number,
    private readonly timeouts: number[],
  ) {
    this.known = start
    this.quiet = start
  }

  private add(from: number, state: number): void {
    if (state === TIMEOUT || this.list.at(-1)?.state !== state) this.list.push({ from, state })
  }

  /** The time up to the last expiry of the timer before an event. */
  private expire(until: number): void {
    // A packet leaves just when the timer expires: equal but for rounding.
    for (let at = this.timeouts[this.nextTimeout]; at !== undefined && at <= until + NEARLY;) {
      const quiet = Math.min(this.quiet, at)
      if (quiet > this.known + NEARLY) this.add(this.known, this.stateUntil(quiet))
      this.add(quiet, TIMEOUT)
      this.known = at
      this.quiet = at
      this.nextTimeout++
      at = this.timeouts[this.nextTimeout]
    }
  }

  /** The time up to an event. */
  private fill(until: number): void {
    this.expire(until)
    if (until > this.known + NEARLY) this.add(this.known, this.stateUntil(until))
    this.known = until
  }

  private stateUntil(until: number): number {
    if (!this.begun) return HANDSHAKE
    if (this.recover !== undefined) return RECOVERING
    return until - this.known > this.roundTrip + NEARLY ? WAITING : SENDING
  }

  hear({ time, heard, again, seq }: Event): void {
    this.expire(time)
    if (heard) {
      if (this.recover !== undefined && isAfter(seq, this.recover)) {
        this.fill(time)
        this.recover = undefined
      }
      this.quiet = Math.max(time, this.quiet)
      return
    }
    this.fill(time)
    this.begun = true
    this.quiet = time
    if (again) this.recover ??= this.highest ?? seq
    if (this.highest === undefined || isAfter(seq, this.highest)) this.highest = seq
  }

  finish(end: number, completed: boolean): Part[] {
    this.expire(end)
    // Whether a timer will expire is not in the record: a flow that has fallen silent waits.
    if (!completed && this.begun && end - this.quiet > this.roundTrip + NEARLY) {
      this.fill(this.quiet)
      this.add(this.quiet, WAITING)
    } else this.fill(end)
    return this.list.map(({ from, state }, index) => ({
      from: index === 0 ? this.start : from,
      to: this.list[index + 1]?.from ?? end,
      state,
    }))
  }
}

/** Events from `start` to `end`: a connection that many flows use, one after the other, has long lists. */
function within(events: Event[], start: number, end: number): { own: Event[]; before: Event | undefined } {
  const times = events.map((event) => event.time)
  const first = firstAbove(times, start - NEARLY)
  const own = events.slice(first, firstAbove(times, end))
  return { own, before: events.slice(0, first).findLast(({ heard, again }) => !heard && !again) }
}

/** A lane for each flow that has started, in the order of the table of flows. */
export function lanesOf(run: Derived): Lane[] {
  const { outcome, topology, hops } = run
  const flows = tableOf(outcome, 'flows')
  const columns = ['connection', 'src', 'start_s', 'completion_s', 'timeouts', 'retransmissions'] as const
  const values = columns.map((name) => valuesOf(flows, name))
  const groups = labelsOf(flows, 'group')
  const events = new Collector(run)
  const roundTrip = events.shortestRoundTrip()
  const expiries = grouped(run.timeouts.time, (_, index) => run.timeouts.flow[index] ?? -1)
  return groups.flatMap((group, flow): Lane[] => {
    const [connection = NaN, node = 0, start = NaN, completion = NaN, timeouts = 0, retransmissions = 0] = values.map(
      (column) => column[flow],
    )
    if (!(start <= hops.until)) return []
    // What is still on a link when the run ends is not in the record, but completions are.
    const completed = hops.truncated ? completion <= hops.until : Number.isFinite(completion)
    const end = completed ? completion : hops.until
    const expired = (expiries.get(flow) ?? []).filter((time) => time <= end)
    const { own, before } = within(events.of(connection, node), start, end)
    const drawn = new Parts(start, roundTrip, expired)
    for (const event of own) {
      // What an earlier flow of the connection has sent may be sent again, although it has arrived.
      const left = before && event.again && !isAfter(event.seq, before.seq)
      if (!left) drawn.hear(event)
    }
    const parts = drawn.finish(end, completed)
    const source = topology.nodes[node]?.name ?? ''
    const counted = { timeouts, retransmissions }
    return [{ flow, group, node, source, connection, start, end, completed, ...counted, parts, spent: spentIn(parts) }]
  })
}

/** Seconds in each state. */
export function spentIn(parts: Part[]): number[] {
  const spent = STATES.map(() => 0)
  for (const { from, to, state } of parts) spent[state] = (spent[state] ?? 0) + to - from
  return spent
}
