import { beforeAll, describe, expect, test } from 'vitest'
import { presets } from '../scenario/presets'
import { labelsOf, tableOf, valuesOf } from '../engine/simulate'
import type { Outcome, Topology } from '../engine/types'
import { loadEngine, missingEngine } from './engine.node'
import { backlogAt, began, DROPPED, hopsOf, left, LOST_ON_LINK, type Hops } from './hops'
import { timeoutsOf } from './timeouts'

const TRACED: [string, string][] = [
  ['measure.crossings', 'all'],
  ['measure.queues', 'all'],
  ['measure.queue-trace', 'on-change'],
  ['measure.probes', 'rto'],
  ['measure.probe-flows', '10000'],
]

const STAR = presets[0].toml
const SHORT = STAR.replace('rounds = 10', 'rounds = 2')
const MIXED = `${SHORT}\n[[traffic]]\nname = "background"\nkind = "background"\nflows = 2\n`
const TREE = SHORT.replace('topology = "star"', 'topology = "leaf-spine"\nleaves = 3\nspines = 2\nhosts-per-leaf = 12')
const LOSSY = `${SHORT}\n[[fault]]\nkind = "loss"\nrate = "1%"\n`

const CASES: [string, string, [string, string][]][] = [
  ['a star without marking', SHORT, [['transport.scheme', 'newreno']]],
  ['a star with marking', SHORT, [['transport.scheme', 'dctcp']]],
  ['strict priority beside long flows', MIXED, [['transport.scheme', 'pfdct']]],
  ['Linux, whose senders send bursts', MIXED, [['transport.scheme', 'linux']]],
  ['losses on the link', LOSSY, [['transport.scheme', 'newreno']]],
  ['leaves and spines', TREE, [['transport.scheme', 'dctcp']]],
  [
    'a run that ends with packets under way',
    MIXED,
    [
      ['transport.scheme', 'newreno'],
      ['run.duration', '5ms'],
    ],
  ],
  [
    'a record that ends before the run',
    SHORT,
    [
      ['transport.scheme', 'newreno'],
      ['measure.capture-limit', '3000'],
    ],
  ],
]

let engine: Awaited<ReturnType<typeof loadEngine>>

interface Derived {
  outcome: Outcome
  topology: Topology
  hops: Hops
}

function derive(toml: string, overrides: [string, string][]): Derived {
  const outcome = engine.run(toml, [...TRACED, ...overrides])
  const topology = engine.topology(toml)
  return { outcome, topology, hops: hopsOf(outcome, topology) }
}

describe.skipIf(missingEngine !== undefined)('what is derived from a run', () => {
  beforeAll(async () => {
    engine = await loadEngine()
  })

  for (const [name, toml, overrides] of CASES) {
    test(`The queue that packets make up is that of the trace, at any time: ${name}`, () => {
      const { outcome, topology, hops } = derive(toml, overrides)
      const bottleneck = topology.links.findIndex((link) => link.bottleneck)
      const trace = tableOf(outcome, 'queue-trace')
      const times = valuesOf(trace, 'time_s')
      const packets = valuesOf(trace, 'packets')
      const end = Math.min(hops.until, times[times.length - 1] ?? 0)
      expect(times.length).toBeGreaterThan(100)
      const wrong: unknown[] = []
      const stride = Math.max(1, Math.floor(times.length / 4000))
      for (let at = 0; at + 1 < times.length; at += stride) {
        const [from = 0, to = 0] = [times[at], times[at + 1]]
        // Between changes, but not where they are too near for the time between to be a number of its own.
        const time = (from + to) / 2
        if (time > end || to - from < 2e-12) continue
        const found = backlogAt(hops, topology, bottleneck, time)
        if (found !== packets[at]) wrong.push([time, found, packets[at]])
      }
      expect(wrong).toEqual([])
    })

    test(`A packet joins a queue, is sent and arrives, in this order: ${name}`, () => {
      const { topology, hops } = derive(toml, overrides)
      for (let at = 0; at < hops.unended; at++) {
        const [queued = 0, end = 0] = [hops.queued[at], hops.end[at]]
        if (hops.fate[at] === DROPPED) continue
        const [start, sent] = [began(hops, topology, at), left(hops, topology, at)]
        if (!(queued <= start && start < sent && sent <= end)) expect([queued, start, sent, end]).toEqual([])
      }
      expect(
        [...hops.end.subarray(0, hops.unended)].every((end, at, all) => at === 0 || end >= (all[at - 1] ?? 0)),
      ).toBe(true)
    })
  }

  test('One packet at a time is on its way out of a port', () => {
    const { topology, hops } = derive(MIXED, [['transport.scheme', 'pfdct']])
    const busy = topology.links.map(() => 0)
    let early = 0
    for (let at = 0; at < hops.unended; at++) {
      if (hops.fate[at] === DROPPED) continue
      const link = hops.link[at] ?? 0
      early = Math.min(early, began(hops, topology, at) - (busy[link] ?? 0))
      busy[link] = left(hops, topology, at)
    }
    expect(early).toBeGreaterThan(-2e-12)
  })

  test('Marks are those that the ports counted', () => {
    const { outcome, topology, hops } = derive(SHORT, [['transport.scheme', 'dctcp']])
    const counted = valuesOf(tableOf(outcome, 'queues'), 'marks').reduce((sum, each) => sum + each, 0)
    expect(counted).toBeGreaterThan(0)
    expect(hops.marks.time.length).toBe(counted)
    const bottleneck = topology.links.findIndex((link) => link.bottleneck)
    expect([...hops.marks.link].filter((link) => link === bottleneck).length).toBe(counted)
  })

  test('A packet that its link loses is drawn until then, if a switch sent it', () => {
    const { hops, outcome, topology } = derive(LOSSY, [['transport.scheme', 'newreno']])
    const bottleneck = topology.links.findIndex((link) => link.bottleneck)
    const reasons = labelsOf(tableOf(outcome, 'drops'), 'reason')
    const lost = reasons.filter((reason, at) => reason === 'random-loss' && hops.drops.link[at] === bottleneck)
    expect(lost.length).toBeGreaterThan(0)
    expect(hops.fate.filter((fate) => fate === LOST_ON_LINK).length).toBe(lost.length)
    expect(hops.drops.time.length).toBe(Number(outcome.summary.drops))
  })

  for (const scheme of ['newreno', 'dctcp', 'linux', 'ictcp', 'rcc', 'sab', 'sdtcp', 'pfdct', 'dt-cwa']) {
    test(`Every timeout of ${scheme} is found, at the flow that had it`, () => {
      const toml = STAR.replace('senders = 24', 'senders = 60').replace('rounds = 10', 'rounds = 4')
      const { outcome, topology, hops } = derive(toml, [['transport.scheme', scheme]])
      const flows = tableOf(outcome, 'flows')
      const wanted = new Map<number, number>()
      const counts = valuesOf(flows, 'timeouts')
      valuesOf(flows, 'connection').forEach((connection, row) => {
        wanted.set(connection, (wanted.get(connection) ?? 0) + (counts[row] ?? 0))
      })
      const found = timeoutsOf(outcome, topology, hops)
      for (const connection of found.connection) wanted.set(connection, (wanted.get(connection) ?? 0) - 1)
      expect([...wanted].filter(([, count]) => count !== 0)).toEqual([])
    })
  }
})
