import { expect, test } from 'vitest'
import { captionOf } from './tables'

test('A caption says what a table is, and how much of it is shown', () => {
  const table = { name: 'crossings', description: 'Packets that crossed a link.', rows: 200, columns: [] }
  expect(captionOf(table, 43_191)).toBe('Packets that crossed a link: the first 200 of 43,191 rows')
  expect(captionOf({ ...table, description: 'what happened' }, 200)).toBe('what happened: 200 rows')
  expect(captionOf({ ...table, description: '' }, 200)).toBe('crossings: 200 rows')
})
