/** A plot as a picture to take away: SVG, and PNG made from it. */

import type { Axis, Limit, Line } from './chart'
import { cornersOf } from './markers'
import { digits, scaleFor } from './numbers'
import type { Style } from './palette'

export interface Figure {
  title: string
  /** What the lines and bands are. */
  note: string
  x: Axis
  y: Axis
  lines: Line[]
  limits?: Limit[]
}

const WIDTH = 720
const HEIGHT = 440
const LEFT = 72
const RIGHT = 20
const TOP = 64
const BOTTOM = 76

/** Letters that fit between the margins: of a title, and of a note. */
const TITLE_LETTERS = 76
const NOTE_LETTERS = 112
const LEGEND_ROW = 20
const TITLE_ROW = 19
const NOTE_ROW = 14

const LIMIT: Style = { colour: '#545d68', marker: 'o', dash: [4, 4] }

/** Round numbers from zero, or from the lowest value, to beyond the highest. */
export function ticks(low: number, high: number, count = 6): number[] {
  if (!(high > low)) return [low]
  const rough = (high - low) / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10) * power
  const first = Math.floor(low / step + 1e-9)
  const last = Math.ceil(high / step - 1e-9)
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)))
}

interface Frame {
  x: (value: number) => number
  y: (value: number) => number
  xTicks: number[]
  yTicks: number[]
}

/** Powers of ten around all values, which are positive. */
export function decades(low: number, high: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low) + 1e-9), Math.ceil(Math.log10(high) - 1e-9)]
  return Array.from({ length: Math.max(last - first, 1) + 1 }, (_, index) => 10 ** (first + index))
}

function frameOf({ lines, limits = [], x, y }: Figure): Frame {
  const xs = [...lines.flatMap((line) => Array.from(line.x)), ...limits.flatMap((limit) => limit.x ?? [])]
  const ys = [
    ...lines.flatMap((line) =>
      [line.y, line.band?.low ?? [], line.band?.high ?? []].flatMap((each) => Array.from(each)),
    ),
    ...limits.flatMap((limit) => limit.y ?? []),
  ].filter(Number.isFinite)
  const xTicks = ticksOf(x, xs)
  const yTicks = ticksOf(y, ys)
  return { x: placing(x, xTicks, LEFT, WIDTH - RIGHT), y: placing(y, yTicks, HEIGHT - BOTTOM, TOP), xTicks, yTicks }
}

function ticksOf({ log }: Axis, values: number[]): number[] {
  const positive = values.filter((value) => value > 0)
  if (log && positive.length > 0) return decades(Math.min(...positive), Math.max(...positive))
  return ticks(Math.min(...values, 0), Math.max(...values, 0))
}

/** Where a value is drawn; what a logarithmic axis cannot show is drawn at its end. */
function placing({ log }: Axis, values: number[], from: number, to: number): (value: number) => number {
  const [low, high] = [values[0] ?? 0, values.at(-1) ?? 1]
  const at = log ? (value: number) => Math.log10(Math.max(value, low)) : (value: number) => value
  return (value) => from + ((at(value) - at(low)) / (at(high) - at(low) || 1)) * (to - from)
}

/**
 * White paper and the figures' own colours: lines come in the light theme's styles. What needs more than one row above
 * or below the plot makes the picture higher.
 */
export function svgOf(figure: Figure): string {
  const title = broken(figure.title, TITLE_LETTERS)
  const note = broken(figure.note, NOTE_LETTERS)
  const legend = legendOf(figure)
  const below = TITLE_ROW * (title.length - 1)
  const above = below + LEGEND_ROW * (legend.rows - 1)
  const height = above + HEIGHT + NOTE_ROW * (note.length - 1)
  const body = [
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...title.map((row, index) => text(LEFT, 24 + TITLE_ROW * index, row, 'font-weight="600" font-size="15"')),
    `<g transform="translate(0 ${below})">${legend.drawn}</g>`,
    `<g transform="translate(0 ${above})">\n${plotOf(figure)}`,
    ...note.map((row, index) => text(LEFT, HEIGHT - 10 + NOTE_ROW * index, row, 'font-size="11" fill="#545d68"')),
    '</g>',
  ]
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="system-ui, sans-serif" font-size="12">\n${body.join('\n')}\n</svg>\n`
}

/** A text in rows of at most so many letters, broken between words; at least one. */
function broken(content: string, most: number): string[] {
  const rows = ['']
  for (const word of content.split(' ')) {
    const row = rows.at(-1) ?? ''
    if (row && row.length + 1 + word.length > most) rows.push(word)
    else rows[rows.length - 1] = row ? `${row} ${word}` : word
  }
  return rows
}

function plotOf(figure: Figure): string {
  const frame = frameOf(figure)
  return [
    axes(figure, frame),
    `<clipPath id="plot"><rect x="${LEFT}" y="${TOP}" width="${WIDTH - LEFT - RIGHT}" height="${HEIGHT - TOP - BOTTOM}"/></clipPath>`,
    `<g clip-path="url(#plot)">${figure.lines.map((line) => bandOf(line, frame)).join('')}</g>`,
    ...(figure.limits ?? []).map((limit) => limitOf(limit, frame)),
    ...figure.lines.flatMap((line) => [pathOf(line, frame), markersOf(line, frame)]),
  ].join('\n')
}

function limitOf({ x, y }: Limit, frame: Frame): string {
  const across = y === undefined ? '' : `M${LEFT} ${round(frame.y(y))}H${WIDTH - RIGHT}`
  const up = x === undefined ? '' : `M${round(frame.x(x))} ${TOP}V${HEIGHT - BOTTOM}`
  return `<path d="${across}${up}" ${strokeOf(LIMIT)}/>`
}

function axes({ x, y }: Figure, frame: Frame): string {
  const label = (axis: Axis, values: number[]) => {
    const scale = scaleFor(Math.max(...values.map(Math.abs)), axis.unit)
    return { name: scale.unit ? `${axis.label} (${scale.unit})` : axis.label, factor: scale.factor }
  }
  const [xLabel, yLabel] = [label(x, frame.xTicks), label(y, frame.yTicks)]
  const bottom = HEIGHT - BOTTOM
  const middle = (TOP + bottom) / 2
  return [
    ...frame.yTicks.map((value) => {
      const at = round(frame.y(value))
      const line = `<path d="M${LEFT} ${at}H${WIDTH - RIGHT}" stroke="#e3e7eb"/>`
      return line + text(LEFT - 8, at + 4, tick(value / yLabel.factor), 'text-anchor="end"')
    }),
    ...frame.xTicks.map((value) =>
      text(frame.x(value), bottom + 18, tick(value / xLabel.factor), 'text-anchor="middle"'),
    ),
    `<path d="M${LEFT} ${TOP}V${bottom}H${WIDTH - RIGHT}" fill="none" stroke="#1b1f24"/>`,
    text((LEFT + WIDTH - RIGHT) / 2, bottom + 40, xLabel.name, 'text-anchor="middle"'),
    text(18, middle, yLabel.name, `text-anchor="middle" transform="rotate(-90 18 ${middle})"`),
  ].join('\n')
}

function tick(value: number): string {
  return digits(Number(value.toPrecision(10)))
}

/** As many rows as the labels need. */
function legendOf({ lines, limits = [] }: Figure): { drawn: string; rows: number } {
  let right = LEFT
  let rows = 1
  const entry = (label: string, style: Style, marked: boolean) => {
    const width = 44 + 7.5 * label.length
    if (right > LEFT && right + width > WIDTH) {
      right = LEFT
      rows += 1
    }
    const [left, middle] = [right, 44 + LEGEND_ROW * (rows - 1)]
    right += width
    const stroke = `<path d="M${left} ${middle}h24" ${strokeOf(style)}/>`
    return stroke + (marked ? shape(style, left + 12, middle) : '') + text(left + 30, middle + 4, label)
  }
  const drawn = [
    ...lines.map(({ label, style }) => entry(label, style, true)),
    ...limits.map(({ label }) => entry(label, LIMIT, false)),
  ]
  return { drawn: drawn.join('\n'), rows }
}

function strokeOf({ colour, dash }: Style): string {
  const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(' ')}"` : ''
  return `fill="none" stroke="${colour}" stroke-width="1.75"${dashes}`
}

/** The places of a line's values that are finite. */
function placesOf(line: Line, ys: ArrayLike<number>, { x, y }: Frame): [number, number][] {
  return Array.from(line.x, (value, index): [number, number] => [round(x(value)), round(y(ys[index] ?? NaN))]).filter(
    ([, top]) => Number.isFinite(top),
  )
}

function pathOf(line: Line, frame: Frame): string {
  const places = placesOf(line, line.y, frame)
  const next = ([left, top]: [number, number]) => (line.step ? `H${left}V${top}` : `L${left} ${top}`)
  const path = places.map((place, index) => (index === 0 ? `M${place.join(' ')}` : next(place))).join('')
  return path ? `<path d="${path}" ${strokeOf(line.style)}/>` : ''
}

function bandOf(line: Line, frame: Frame): string {
  if (!line.band) return ''
  const ends = [...placesOf(line, line.band.high, frame), ...placesOf(line, line.band.low, frame).reverse()]
  const points = ends.map((place) => place.join(',')).join(' ')
  return ends.length > 2 ? `<polygon points="${points}" fill="${line.style.colour}" fill-opacity="0.2"/>` : ''
}

function markersOf(line: Line, frame: Frame): string {
  if (!line.points) return ''
  return placesOf(line, line.y, frame)
    .map(([left, top]) => shape(line.style, left, top))
    .join('')
}

function shape({ marker, colour }: Style, x: number, y: number): string {
  const corners = cornersOf(marker)
  if (!corners) return `<circle cx="${x}" cy="${y}" r="4" fill="${colour}"/>`
  const points = corners.map(([dx, dy]) => `${round(x + 4.5 * dx)},${round(y + 4.5 * dy)}`).join(' ')
  return `<polygon points="${points}" fill="${colour}"/>`
}

function text(x: number, y: number, content: string, more = ''): string {
  const safe = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const fill = more.includes('fill=') ? '' : ' fill="#1b1f24"'
  return `<text x="${round(x)}" y="${round(y)}"${fill} ${more}>${safe}</text>`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

/** The same picture as PNG, twice as fine. */
export async function pngOf(figure: Figure): Promise<Blob> {
  const image = new Image()
  image.src = URL.createObjectURL(new Blob([svgOf(figure)], { type: 'image/svg+xml' }))
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = 2 * image.naturalWidth
  canvas.height = 2 * image.naturalHeight
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
  URL.revokeObjectURL(image.src)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob) resolve(blob)
      else reject(new Error('this browser cannot make a PNG'))
    }, 'image/png')
  })
}
