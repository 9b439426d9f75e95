import { expect, test } from 'vitest'
import { fctLines, groupTotalOf, isWide, meanLines, rowsOf, totalOf } from './lines'
import type { Plan, Point } from './sweep'

const plan = {
  schemes: ['newreno', 'dctcp'],
  xs: [4, 8],
  seeds: 3,
  knob: { name: 'traffic.a.senders' },
} as unknown as Plan
const point = (scheme: string, x: number, seed: number, goodput: number): Point => ({
  scheme,
  x,
  seed,
  summary: { goodput_bps: goodput, result_hash: 'ab', groups: [{ group: 'b', goodput_bps: 2 * goodput }] },
  fcts: Float64Array.of(seed, seed),
})
const points = [1, 2, 3].flatMap((seed) => [point('newreno', 4, seed, 10 + seed), point('dctcp', 8, seed, 10)])

test('A line has the mean over seeds and its interval, where there are runs', () => {
  const [newreno, dctcp] = meanLines(plan, points, totalOf('goodput_bps'), 'light')
  expect(newreno).toMatchObject({ label: 'newreno', x: [4], y: [12] })
  expect(Number(newreno?.band?.high[0]) - 12).toBeCloseTo(4.303 / Math.sqrt(3), 10)
  expect(dctcp).toMatchObject({ x: [8], y: [10], band: { low: [10], high: [10] } })
})

test('A traffic group has its own totals, and a total that is missing has no points', () => {
  expect(meanLines(plan, points, groupTotalOf('b', 'goodput_bps'), 'light')[0]?.y).toEqual([24])
  expect(meanLines(plan, points, groupTotalOf('c', 'goodput_bps'), 'light')[0]?.y).toEqual([])
})

test('A band stays within what can be: goodput below zero or above the links is not drawn', () => {
  const within = (goodput: number, capacity: number | null) =>
    [1, 2, 3].map((seed) => {
      const each = point('newreno', 4, seed, seed === 1 ? 0.1 : goodput)
      return { ...each, summary: { ...each.summary, capacity_bps: capacity } }
    })
  const bandOf = (own: Point[]) => meanLines(plan, own, totalOf('goodput_bps'), 'light')[0]?.band
  expect(bandOf(within(0.9, 1))).toEqual({ low: [0.1], high: [0.9] })
  expect(bandOf(within(0.12, 1))?.high[0]).toBeGreaterThan(0.12)
  expect(bandOf(within(0.12, 0.121))).toEqual({ low: [0.1], high: [0.12] })
  expect(bandOf(within(0.12, null))?.high[0]).toBeGreaterThan(0.121)
})

test('Values of many sizes need a logarithmic axis, and zero has no place on one', () => {
  expect(isWide([0.002, 0.2, NaN])).toBe(true)
  expect(isWide([0.1, 0.2])).toBe(false)
  expect(isWide([0, 1])).toBe(false)
  expect(isWide([])).toBe(false)
})

test('A distribution is of all seeds together', () => {
  expect(fctLines(plan, points, 4, 'light')[0]).toMatchObject({ x: [1, 2, 3], y: [2 / 6, 4 / 6, 1] })
  expect(fctLines(plan, points, 4, 'light')[1]?.x).toEqual([])
})

test('The table has a row per run, and totals that are single values', () => {
  const { header, rows } = rowsOf(plan, points)
  expect(header).toEqual(['transport.scheme', 'traffic.a.senders', 'seed', 'goodput_bps', 'result_hash'])
  expect(rows[0]).toEqual(['newreno', 4, 1, 11, 'ab'])
})
