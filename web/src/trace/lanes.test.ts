import { beforeAll, describe, expect, test } from 'vitest'
import { tableOf, valuesOf } from '../engine/simulate'
import type { Outcome } from '../engine/types'
import { presets } from '../scenario/presets'
import { loadEngine, missingEngine } from './engine.node'
import { columnOf, hopsOf } from './hops'
import { HANDSHAKE, lanesOf, RECOVERING, TIMEOUT, WAITING } from './lanes'
import { timeoutsOf } from './timeouts'

const STAR = presets[0].toml.replace('rounds = 10', 'rounds = 3')
const FRESH = STAR.replace('"persistent"', '"fresh"')
const LARGE = STAR.replace('senders = 24', 'senders = 60')
/** Requests, SYNs, data and acknowledgements are lost, also on the senders' own links. */
const faulty = (toml: string) =>
  `${toml}
[[fault]]
kind = "loss"
rate = "3%"
[[fault]]
kind = "loss"
name = "of-one-sender"
rate = "10%"
link = "sender-0->switch-0"
`

const CASES: [string, string][] = [
  ['open connections', STAR],
  ['new connections', FRESH],
  ['many senders', LARGE],
  ['open connections over faulty links', faulty(STAR)],
  ['new connections over faulty links', faulty(FRESH)],
]
const SCHEMES = ['newreno', 'dctcp', 'rcc', 'sdtcp', 'linux']

let engine: Awaited<ReturnType<typeof loadEngine>>

function laned(toml: string, scheme: string, limit = '1000000') {
  const topology = engine.topology(toml)
  const outcome = engine.run(toml, [
    ['transport.scheme', scheme],
    ['measure.crossings', 'all'],
    ['measure.capture-limit', limit],
    ['measure.probes', 'rto,in-flight'],
    ['measure.probe-flows', '10000'],
  ])
  const hops = hopsOf(outcome, topology)
  return {
    lanes: lanesOf({ outcome, topology, hops, timeouts: timeoutsOf(outcome, topology, hops) }),
    outcome,
    until: hops.until,
  }
}

/** By connection, when the engine counted how many bytes to be in flight. */
function inFlight(outcome: Outcome): Map<number, { time: number; bytes: number }[]> {
  const table = tableOf(outcome, 'probes')
  const names = columnOf(table, 'name')
  const wanted = names?.names.indexOf('in-flight')
  const times = valuesOf(table, 'time_s')
  const values = valuesOf(table, 'value')
  const found = new Map<number, { time: number; bytes: number }[]>()
  valuesOf(table, 'connection').forEach((connection, row) => {
    if (names?.values[row] !== wanted) return
    const list = found.get(connection) ?? []
    list.push({ time: times[row] ?? 0, bytes: values[row] ?? 0 })
    found.set(connection, list)
  })
  return found
}

describe.skipIf(missingEngine !== undefined)('lanes', () => {
  beforeAll(async () => {
    engine = await loadEngine()
  })

  for (const [name, toml] of CASES) {
    for (const scheme of SCHEMES) {
      test(`Lanes say the same as the table of flows: ${scheme}, ${name}`, () => {
        const { lanes, outcome, until } = laned(toml, scheme)
        const flows = tableOf(outcome, 'flows')
        const [starts, times, timeouts, syns, again] = [
          'start_s',
          'fct_s',
          'timeouts',
          'timeouts_syn',
          'retransmissions',
        ].map((column) => valuesOf(flows, column))
        expect(lanes.length).toBe([...(starts ?? [])].filter((start) => start <= until).length)
        for (const { flow, parts, start, end, spent, completed } of lanes) {
          if (completed) expect(end - start).toBeCloseTo(times?.[flow] ?? NaN, 9)
          expect(spent.reduce((sum, each) => sum + each, 0)).toBeCloseTo(end - start, 9)
          expect([parts[0]?.from, ...parts.map(({ to }) => to)]).toEqual([...parts.map(({ from }) => from), end])
          expect(parts.filter(({ from, to }) => to < from)).toEqual([])
          // A part for each timeout, those of its request and its SYN included.
          const expired = parts.filter(({ state }) => state === TIMEOUT).length
          expect([flow, expired]).toEqual([flow, timeouts?.[flow]])
          if ((timeouts?.[flow] ?? 0) > 0 && syns?.[flow] === 0) expect(spent[TIMEOUT]).toBeGreaterThan(0.01)
          if (again?.[flow] === 0) expect(spent[RECOVERING]).toBe(0)
        }
        const recovered = lanes.filter(({ spent }) => (spent[RECOVERING] ?? 0) > 0).length
        if (lanes.some(({ timeouts }) => timeouts > 0)) expect(recovered).toBeGreaterThan(0)
      })

      test(`Handshakes end as the first bytes are in flight, and no timeout has any change: ${scheme}, ${name}`, () => {
        const { lanes, outcome } = laned(toml, scheme)
        const changes = inFlight(outcome)
        const wrong: unknown[] = []
        for (const { flow, connection, parts, start, end } of lanes) {
          const all = changes.get(connection) ?? []
          const own = all.filter(({ time }) => time >= start - 1e-9 && time <= end)
          // Bytes of the transfer before it may still be in flight.
          const grows = (at: number) => (all[at]?.bytes ?? 0) > (all[at - 1]?.bytes ?? 0)
          const first = own.find((change) => grows(all.indexOf(change)))?.time ?? end
          const begun = parts.findLast(({ state }) => state === HANDSHAKE)?.to ?? start
          // Packets may wait in the host before they leave.
          if (begun < first - 1e-9 || begun > first + 1e-4) wrong.push([flow, 'handshake', begun, first])
          for (const { from, to, state } of parts) {
            if (state !== TIMEOUT) continue
            const within = own.filter(({ time }) => time > from + 1e-4 && time < to - 1e-9)
            if (within.length > 0) wrong.push([flow, 'timeout', from, to, within[0]])
          }
        }
        expect(wrong).toEqual([])
      })
    }
  }

  test('A new connection has a handshake, and bytes that nobody asks for are sent at once', () => {
    for (const { spent } of laned(FRESH, 'dctcp').lanes) expect(spent[HANDSHAKE]).toBeGreaterThan(100e-6)
    const unasked = STAR.replace('request = "100B"\n', '')
    for (const { spent } of laned(unasked, 'dctcp').lanes) expect(spent[HANDSHAKE]).toBe(0)
  })

  test('A flow whose timer runs where the record ends waits, and does not recover', () => {
    const { lanes } = laned(LARGE.replace('duration = "60s"', 'duration = "150ms"'), 'newreno')
    const cut = lanes.filter(({ completed }) => !completed)
    expect(cut.length).toBeGreaterThan(0)
    for (const { parts } of cut) {
      const last = parts.at(-1)
      expect(last?.state).toBe(WAITING)
      expect((last?.to ?? 0) - (last?.from ?? 0)).toBeGreaterThan(0.05)
    }
  })

  test('Lanes end where the record ends, and flows that begin later have none', () => {
    const { lanes, outcome } = laned(STAR, 'newreno', '3000')
    const all = tableOf(outcome, 'flows')?.rows ?? 0
    expect(lanes.length).toBeLessThan(all)
    const cut = lanes.filter(({ completed }) => !completed)
    expect(cut.length).toBeGreaterThan(0)
    expect(new Set(cut.map(({ end }) => end)).size).toBe(1)
  })
})
