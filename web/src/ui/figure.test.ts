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

const line = { label: 'TCP', style: { colour: '#000', marker: 'o' as const, dash: [] }, x: [0, 100], y: [0, 40] }
const axes = { x: { label: 'N', unit: '' }, y: { label: 'Goodput (Mbit/s)', unit: '' } }

test('A limit is drawn across the picture, which has room for it', () => {
  const limits = [
    { label: 'paper: capacity', y: 60 },
    { label: 'paper: collapse', x: 50 },
  ]
  const svg = svgOf({ title: '', note: '', ...axes, lines: [line], limits })
  // Axes up to 60 and 100, between the margins.
  expect(svg).toContain('"M72 64H700"')
  expect(svg).toContain('"M386 64V364"')
  expect(svg).toContain('>paper: capacity<')
})

test('Texts and labels that need more than a row make a picture higher, and stay in it', () => {
  const sized = (title: string, note: string, labels: string[]) => {
    const svg = svgOf({ title, note, ...axes, lines: labels.map((label) => ({ ...line, label })) })
    expect(svg).toContain('"M72 64V364H700"')
    const [, height] = /viewBox="0 0 720 (\d+)"/.exec(svg) ?? []
    const starts = Array.from(svg.matchAll(/<path d="M(\d+\.?\d*) \d+h24"/g), ([, left]) => Number(left))
    return { svg, height: Number(height), starts }
  }
  expect(sized('a', '', ['TCP', 'DCTCP']).height).toBe(440)
  const long = sized(
    'word '.repeat(30),
    'word '.repeat(60),
    Array.from({ length: 12 }, (_, index) => `variant ${index}`),
  )
  expect(long.height).toBeGreaterThan(440)
  expect(Math.max(...long.starts)).toBeLessThan(640)
  expect(long.starts.filter((left) => left === 72).length).toBeGreaterThan(1)
  expect(long.svg.match(/>(word ?)+</g)?.length).toBeGreaterThan(4)
})
