import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { distribution, meanInterval, percentile, spread, T_95, tQuantile } from './stats'

test('The quantiles are those of the Python package', () => {
  const source = readFileSync(new URL('../../../python/fanin/numbers/stats.py', import.meta.url), 'utf8')
  const table = /_T_95 = \(([^)]*)\)/.exec(source)?.[1] ?? ''
  expect(table.match(/[\d.]+/g)?.map(Number)).toEqual(T_95)
})

test('Beyond the table the quantile comes near that of the normal distribution', () => {
  expect(tQuantile(30)).toBe(2.042)
  expect(tQuantile(31)).toBeCloseTo(2.0395, 3)
  expect(tQuantile(1e6)).toBeCloseTo(1.96, 3)
})

test('An interval is the quantile times the standard error', () => {
  expect(meanInterval([1, 2, 3]).half).toBeCloseTo(4.303 / Math.sqrt(3), 10)
  expect(meanInterval([5, 5, 5])).toEqual({ mean: 5, half: 0 })
})

test('Fewer than three values, or a missing one, have no interval', () => {
  expect(meanInterval([1, 2]).half).toBeNaN()
  expect(meanInterval([1, 2, NaN]).half).toBeNaN()
})

test('An interval that contains what cannot be gives way to quantiles of the seeds', () => {
  const { mean, half } = meanInterval([8, 9, 10])
  expect(spread([8, 9, 10])).toEqual({ mean, low: mean - half, high: mean + half })
  expect(spread([8, 9, 10], 10)).toEqual({ mean: 9, low: 8, high: 10 })
  expect(spread([0, 0, 9])).toEqual({ mean: 3, low: 0, high: 9 })
  expect(spread([-1, 4, 9]).low).toBeLessThan(-1)
  expect(spread([1, 2]).low).toBeNaN()
  expect(spread([201, 201, 201, 4.6, 201])).toMatchObject({ low: 4.6, high: 201 })
  expect(spread([1, 2, 1, 2, 2]).low).not.toBe(1)
})

test('A percentile is a value that occurred', () => {
  const values = Array.from({ length: 1000 }, (_, index) => 1000 - index)
  expect(percentile(values, 99.9)).toBe(999)
  expect(percentile([3, 1, 2], 2.5)).toBe(1)
  expect(percentile([], 50)).toBeNaN()
})

test('A distribution of very many values has fewer steps, and ends at one', () => {
  const { x, y } = distribution(Array.from({ length: 10_000 }, (_, index) => index))
  expect(x.length).toBeLessThanOrEqual(601)
  expect([x.at(-1), y.at(-1)]).toEqual([9999, 1])
})

test('A distribution has one step for equal values, and leaves out those that are missing', () => {
  expect(distribution([3, 1, NaN, 1, 2])).toEqual({ x: [1, 2, 3], y: [0.5, 0.75, 1] })
})
