import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { nameOf, placeOf, step, systemsOf, valuesOf, type Place, type Ranking, type Regime } from './ranking'

const place = (system: string, share: number): Place => [system, 1, share, '1', '1', '1', '1', '']
const regimes: Regime[] = [
  { where: { buffer: '1 MB', senders: '5' }, places: [place('a', 100), place('b', 10)] },
  { where: { buffer: '1 MB', senders: '20' }, places: [place('b', 100), place('a', 90)] },
]

test('Values keep their order, and systems are sorted by their mean share', () => {
  expect(valuesOf(regimes, 'senders')).toEqual(['5', '20'])
  expect(systemsOf([...regimes].reverse())).toEqual(['a', 'b'])
  expect(nameOf({ where: { buffer: '1 MB', senders: '5' }, places: [] }, ['buffer'])).toBe('senders 5')
})

test('Every regime of the ranking has all systems of its experiment', () => {
  const kept = JSON.parse(readFileSync('public/data/ranking.json', 'utf8')) as Ranking
  for (const { regimes: every } of kept.experiments) {
    const systems = systemsOf(every)
    for (const regime of every) {
      expect(systems.every((system) => placeOf(regime, system)?.length === kept.columns.length + 4)).toBe(true)
    }
  }
})

test('Keys walk over the map and stop at its edges', () => {
  expect(step('ArrowRight', 0, 0, 2, 2)).toEqual([0, 1])
  expect(step('ArrowUp', 0, 1, 2, 2)).toEqual([0, 1])
  expect(step('End', 1, 0, 2, 4)).toEqual([1, 3])
  expect(step('PageDown', 0, 3, 5, 4)).toEqual([4, 3])
  expect(step('Tab', 0, 0, 2, 2)).toBeUndefined()
})
