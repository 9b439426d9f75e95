import { beforeAll, describe, expect, test } from 'vitest'
import { presets } from '../scenario/presets'
import { loadEngine, missingEngine } from './engine.node'
import { hopsOf } from './hops'
import { HANDSHAKE, lanesOf, TIMEOUT, type Lane } from './lanes'
import { timeoutsOf } from './timeouts'

const STAR = presets[0].toml.replace('rounds = 10', 'rounds = 3')
const FRESH = STAR.replace('"persistent"', '"fresh"')

let engine: Awaited<ReturnType<typeof loadEngine>>

function lanes(toml: string, scheme: string): Lane[] {
  const topology = engine.topology(toml)
  const outcome = engine.run(toml, [
    ['transport.scheme', scheme],
    ['measure.crossings', 'all'],
    ['measure.probes', 'rto,srtt'],
    ['measure.probe-flows', '10000'],
  ])
  const hops = hopsOf(outcome, topology)
  return lanesOf(outcome, topology, hops, timeoutsOf(outcome, topology, hops))
}

describe.skipIf(missingEngine !== undefined)('lanes', () => {
  beforeAll(async () => {
    engine = await loadEngine()
  })

  for (const scheme of ['newreno', 'dctcp', 'linux']) {
    test(`Parts of ${scheme} follow each other from the start to the end of a flow`, () => {
      const all = lanes(STAR, scheme)
      expect(all.length).toBe(72)
      for (const { parts, start, end, spent, completed } of all) {
        expect(completed).toBe(true)
        const times = [...parts.map(({ from }) => from), end]
        expect(times[0]).toBe(start)
        expect(times).toEqual([...times].sort((one, other) => one - other))
        expect(spent.reduce((sum, each) => sum + each, 0)).toBeCloseTo(end - start, 12)
      }
    })
  }

  test('A flow waits for its timer if and only if it had a timeout, for nearly as long as the timer is at least', () => {
    const all = lanes(STAR, 'newreno')
    expect(all.some(({ timeouts }) => timeouts > 0)).toBe(true)
    for (const { timeouts, spent } of all) {
      if (timeouts === 0) expect(spent[TIMEOUT]).toBe(0)
      // Acknowledgements that change nothing may come after the timer was set.
      else expect(spent[TIMEOUT]).toBeGreaterThan(timeouts * 0.15)
    }
  })

  test('Nothing is sent before the request has come', () => {
    for (const { spent } of lanes(STAR, 'dctcp')) expect(spent[HANDSHAKE]).toBeGreaterThanOrEqual(0)
    for (const { spent } of lanes(FRESH, 'dctcp')) expect(spent[HANDSHAKE]).toBeGreaterThan(50e-6)
  })
})
