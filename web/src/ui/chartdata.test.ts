import { expect, test } from 'vitest'
import { align, extent, firstAbove } from './chartdata'

test('Lines with different x values share one axis', () => {
  const data = align(
    [
      { x: [0, 2], y: [1, 2] },
      { x: [1, 2], y: [5, NaN] },
    ],
    0,
    2,
  )
  expect(data).toEqual([
    [0, 1, 2],
    [1, null, 2],
    [null, 5, null],
  ])
})

test('Of two values at one instant the later one is drawn', () => {
  expect(align([{ x: [0, 1, 1], y: [1, 2, 3] }], 0, 1)).toEqual([
    [0, 1],
    [1, 3],
  ])
})

test('The points beside the view are kept, as lines lead to them', () => {
  expect(align([{ x: [0, 1, 2, 3, 4], y: [0, 1, 2, 3, 4] }], 1.5, 2.5)[0]).toEqual([1, 2, 3])
})

test('No peak is lost when there are more points than the screen has', () => {
  const x = Float64Array.from({ length: 100_000 }, (_, index) => index)
  const y = new Float64Array(100_000)
  y[54_321] = 7
  y[54_322] = -3
  const [axis, values] = align([{ x, y }], 0, 99_999)
  expect(axis.length).toBe(2000)
  expect(Math.max(...(values ?? []).map(Number))).toBe(7)
  expect(Math.min(...(values ?? []).map(Number))).toBe(-3)
})

test('A value that holds fills the intervals without points', () => {
  const x = [0, ...Array.from({ length: 5000 }, (_, index) => 900 + index / 50)]
  const y = x.map((at) => (at === 0 ? 4 : 1))
  const values = align([{ x, y, step: true }], 0, 1000)[1] ?? []
  expect(values[1000]).toBe(4)
  expect(values[1999]).toBe(1)
})

test('A line ends with its last point, even if others go on', () => {
  const long = { x: Array.from({ length: 5000 }, (_, index) => index), y: new Float64Array(5000), step: true }
  const short = { x: [0, 100], y: [4, 4], step: true }
  const values = align([long, short], 0, 4999)[2] ?? []
  expect(values[20]).toBe(4)
  expect(values[100]).toBeNull()
})

test('Searches and extents have no trouble with empty lines', () => {
  expect(firstAbove([], 1)).toBe(0)
  expect(firstAbove([1, 1, 2], 1)).toBe(2)
  expect(extent([{ x: [], y: [] }])).toBeUndefined()
  expect(
    extent([
      { x: [], y: [] },
      { x: [3, 5], y: [0, 0] },
    ]),
  ).toEqual([3, 5])
})
