import { expect, test } from 'vitest'
import { rowsOf } from './figure'
import type { Figure } from './papers'

const figure = (more: Partial<Figure>): Figure => ({
  name: 'f',
  kind: 'line',
  title: 'F',
  note: '',
  x: 'N',
  y: 'Goodput (Mbit/s)',
  lines: [],
  published: [],
  ...more,
})

test('Lines stand side by side, in the order of numbers and with their intervals', () => {
  const lines = [
    { label: 'a', x: [10, 9], y: [2, 1], low: [1.5, 0.5], high: [2.5, 1.5] },
    { label: '', x: [9], y: [3] },
  ]
  expect(rowsOf(figure({ lines }))).toEqual({
    header: ['N', 'a', 'Goodput (Mbit/s)'],
    rows: [
      ['9', '1 (0.5 to 1.5)', '3'],
      ['10', '2 (1.5 to 2.5)', ''],
    ],
  })
})

test('Of a distribution there are a few shares, in the unit of its axis', () => {
  const at = [1, 5, 25, 50, 75, 95, 99, 100]
  const { header, rows } = rowsOf(
    figure({ x: 'FCT (ms)', whole: 100, lines: [{ label: '', x: at.map((y) => 2 * y), y: at }] }),
  )
  expect(header).toEqual(['Share', 'FCT (ms)'])
  expect(rows[0]).toEqual(['5 %', '10'])
  expect(rows[2]).toEqual(['50 %', '100'])
  expect(rows.at(-1)).toEqual(['100 %', '200'])
})
