import { expect, test } from 'vitest'
import { parseValues } from './axis'

test('Values are read in any order, each once', () => {
  expect(parseValues('8, 4,4, 16,', { dimension: 'count' })).toEqual([4, 8, 16])
  expect(parseValues('1MB, 64KB', { dimension: 'bytes' })).toEqual([64e3, 1e6])
})

test('A value of another kind is refused', () => {
  expect(parseValues('8, 4pkt', { dimension: 'count' })).toBeUndefined()
  expect(parseValues('1.5', { dimension: 'count' })).toBeUndefined()
  expect(parseValues(' ', { dimension: 'count' })).toBeUndefined()
  expect(parseValues('a', { dimension: 'bytes' })).toBeUndefined()
})
