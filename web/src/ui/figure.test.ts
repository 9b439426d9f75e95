import { expect, test } from 'vitest'
import { decades, svgOf, ticks } from './figure'

test('Ticks are round and hold all values', () => {
  expect(ticks(0, 9.7e8)).toEqual([0, 2e8, 4e8, 6e8, 8e8, 1e9])
  expect(ticks(0, 60)).toEqual([0, 10, 20, 30, 40, 50, 60])
  expect(ticks(0, 0)).toEqual([0])
})

test('A logarithmic axis has powers of ten, and its values their places between them', () => {
  expect(decades(0.002, 0.9)).toEqual([0.001, 0.01, 0.1, 1])
  expect(decades(1, 1)).toEqual([1, 10])
  const line = { label: 'a', style: { colour: '#000', marker: 'o' as const, dash: [] }, x: [0, 1], y: [0.001, 0.1] }
  const y = { label: 'Time', unit: 's', log: true }
  const svg = svgOf({ title: '', note: '', x: { label: 'N', unit: '1' }, y, lines: [line] })
  expect(svg).toContain('M72 364L700 64')
})

test('A picture has its lines, bands, markers and labels, and no markup from them', () => {
  const svg = svgOf({
    title: 'a < b',
    note: 'bands',
    x: { label: 'Senders', unit: '1' },
    y: { label: 'Goodput', unit: 'bit/s' },
    lines: [
      {
        label: '<script>',
        style: { colour: '#0072b2', marker: 's', dash: [] },
        points: true,
        x: [1, 2],
        y: [1e8, NaN],
        band: { low: [9e7, NaN], high: [1.1e8, NaN] },
      },
    ],
  })
  expect(svg).toContain('a &lt; b')
  expect(svg).toContain('&lt;script&gt;')
  expect(svg).toContain('Goodput (Mbit/s)')
  expect(svg).not.toContain('NaN')
})
