import { beforeAll, describe, expect, test } from 'vitest'
import { presets } from '../../scenario/presets'
import { loadEngine, missingEngine } from '../../trace/engine.node'
import { lanesOf, TIMEOUT, type Lane } from '../../trace/lanes'
import { hopsOf } from '../../trace/hops'
import type { Trace } from '../../trace/session'
import { timeoutsOf } from '../../trace/timeouts'
import { ordered } from './order'
import { PLOTS, recordingOf } from './probes'
import { scaled, ticksOf, within } from './span'
import { inWords, mostTelling, totalsOf } from './summary'

test('A stretch of time stays within the whole and keeps its length', () => {
  const whole = { from: 1, to: 3 }
  expect(within({ from: 0, to: 1 }, whole)).toEqual({ from: 1, to: 2 })
  expect(within({ from: 2.5, to: 3.5 }, whole)).toEqual({ from: 2, to: 3 })
  expect(within({ from: -5, to: 5 }, whole)).toEqual(whole)
  expect(scaled({ from: 1, to: 3 }, 0.5, 1)).toEqual({ from: 1, to: 2 })
})

test('Ticks are round times in view', () => {
  expect(ticksOf({ from: 0, to: 1 }, 5)).toEqual(
    [0, 0.2, 0.4, 0.6, 0.8, 1].map((time): unknown => expect.closeTo(time, 12)),
  )
  expect(ticksOf({ from: 0.00123, to: 0.00151 }, 3)).toEqual([
    expect.closeTo(0.0013, 12),
    expect.closeTo(0.0014, 12),
    expect.closeTo(0.0015, 12),
  ])
})

const lane = (flow: number, values: Partial<Lane> = {}): Lane => ({
  flow,
  group: 'servers',
  node: flow,
  source: `sender-${flow}`,
  connection: flow,
  start: 0,
  end: 1,
  completed: true,
  timeouts: 0,
  retransmissions: 0,
  parts: [{ from: 0, to: 1, state: 1 }],
  spent: [0, 1, 0, 0, 0],
  ...values,
})

test('What has not completed is below all that has, and the most timeouts are on top', () => {
  const lanes = [
    lane(0, { completed: false, end: 0.1 }),
    lane(1, { end: 3, timeouts: 1 }),
    lane(2, { end: 2 }),
    lane(3, { end: 2 }),
  ]
  const numbers = (order: Parameters<typeof ordered>[1]) => ordered(lanes, order).map(({ flow }) => flow)
  expect(numbers('completion')).toEqual([2, 3, 1, 0])
  expect(numbers('number')).toEqual([0, 1, 2, 3])
  expect(numbers('timeouts')).toEqual([1, 0, 2, 3])
  expect(mostTelling(lanes)?.flow).toBe(1)
  expect(mostTelling([lane(0), lane(1, { end: 2 }), lane(2)])?.flow).toBe(1)
})

test('The words count flows and the share of their time', () => {
  const waited = lane(1, { end: 3, timeouts: 2, spent: [0, 1, 0, 0, 2] })
  expect(inWords([lane(0), waited], 2, 2)).toMatch(/^1 of 2 flows waited in a timeout\. .* 50.% was spent so\.$/)
  expect(inWords([lane(0), lane(1)], 0, 0)).toBe('No flow of 2 waited in a timeout.')
  expect(inWords([lane(0, { completed: false })], 0, 3)).toContain('3 of 3 timeouts have no known time')
  expect(inWords([], 0, 0)).toBe('No flow has started.')
})

describe.skipIf(missingEngine !== undefined)('of runs', () => {
  let engine: Awaited<ReturnType<typeof loadEngine>>
  beforeAll(async () => {
    engine = await loadEngine()
  })

  function traced(scheme: string, probes: string, flows = '1000'): Trace {
    const { toml } = presets[0]
    const topology = engine.topology(toml)
    const outcome = engine.run(toml, [
      ['transport.scheme', scheme],
      ['measure.crossings', 'all'],
      ['measure.capture-limit', '1000000'],
      ['measure.probes', probes],
      ['measure.probe-flows', flows],
    ])
    const values = [
      ['transport.scheme', scheme],
      ['measure.probes', probes],
    ].map(([path = '', value = '']) => {
      const unknown = { scheme: null, number: null, unit: null, set_at: null }
      return { path, value, ...unknown, is_default: false, source: '', doc: '' }
    })
    const hops = hopsOf(outcome, topology)
    return { outcome, topology, values, hops, timeouts: timeoutsOf(outcome, topology, hops) }
  }

  const ALL = 'cwnd,receiver-window,in-flight,srtt,alpha,rto'

  /** Which quantities each scheme has; the others are said to be missing. */
  const HAS: Record<string, string[]> = {
    newreno: ['cwnd', 'in-flight', 'srtt'],
    dctcp: ['cwnd', 'in-flight', 'srtt', 'alpha'],
    rcc: ['cwnd', 'receiver-window', 'in-flight', 'srtt'],
    sdtcp: ['cwnd', 'in-flight', 'srtt'],
  }

  for (const [scheme, has] of Object.entries(HAS)) {
    test(`Shares of ${scheme} add up, its timeouts are in its lanes, and what it has no value of is said`, () => {
      const trace = traced(scheme, ALL)
      const lanes = lanesOf(trace)
      const totals = totalsOf(lanes)
      expect(totals.shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9)
      const parts = lanes.flatMap((each) => each.parts.filter(({ state }) => state === TIMEOUT))
      expect(parts.length).toBe(Number(trace.outcome.summary.timeouts))
      const first = lanes[0]
      if (!first) throw new Error('no lane')
      const { found, absent } = recordingOf(trace, first)
      for (const quantity of PLOTS.flatMap(({ quantities }) => quantities)) {
        const is = has.includes(quantity.probe)
        expect(absent(quantity), quantity.probe).toBe(is ? '' : `${quantity.label}: ${scheme} has none`)
        expect(found.has(quantity.probe)).toBe(is)
      }
      expect(Array.from(found.get('cwnd')?.x ?? []).at(-1)).toBeGreaterThanOrEqual(first.end)
      const times = [...(found.get('srtt')?.x as number[])]
      expect(times).toEqual([...times].sort((one, other) => one - other))
    })
  }

  test('What was not asked for, and flows that were not probed, are said to be so', () => {
    const trace = traced('dctcp', 'cwnd', '1')
    const lanes = lanesOf(trace)
    const isProbed = (each: Lane) => recordingOf(trace, each).found.has('cwnd')
    const probed = lanes.find(isProbed)
    const other = lanes.find((each) => !isProbed(each))
    const [cwnd] = PLOTS[0]?.quantities ?? []
    const [alpha] = PLOTS[2]?.quantities ?? []
    if (!probed || !other || !cwnd || !alpha) throw new Error('no lane')
    expect(recordingOf(trace, probed).absent(cwnd)).toBe('')
    expect(recordingOf(trace, probed).absent(alpha)).toBe('alpha: not recorded (measure.probes)')
    expect(recordingOf(trace, other).absent(cwnd)).toBe('cwnd: this flow was not probed')
  })
})
