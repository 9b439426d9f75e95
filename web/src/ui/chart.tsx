/** The one wrapper around uPlot: lines with units, bands, limits, and a cursor that several charts share. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { align, extent, valueAt, type Aligned, type Points } from './chartdata'
import { addMarker } from './markers'
import { digits, scaleFor, withUnit } from './numbers'
import type { Marker, Style } from './palette'
import { Swatch } from './swatch'
import { useTheme, type Theme } from './theme'

export interface Line extends Points {
  label: string
  style: Style
  /** Whether every point has its marker. */
  points?: boolean
  /** Ends of a confidence interval at each x. */
  band?: { low: ArrayLike<number>; high: ArrayLike<number> }
}

export interface Axis {
  label: string
  /** Unit of the values: s, bit/s, B, pkt, %, 1. */
  unit: string
  /** Logarithmic: for positive values of many sizes. */
  log?: boolean
}

/** A value that is marked across the chart, such as a threshold: at some y, or at some x. */
export interface Limit {
  label: string
  y?: number
  x?: number
}

export interface ChartProps {
  /** Also what a screen reader says. */
  title: string
  x: Axis
  y: Axis
  lines: Line[]
  limits?: Limit[]
  height?: number
  /** Charts with the same name move their cursors together. */
  cursor?: string
  /** The x in view, if something else than the chart itself decides on it: then what is dragged over is only wished for. */
  span?: { from: number; to: number }
  /** Hears which x somebody wishes to see; none for all. */
  onSpan?: (span: { from: number; to: number } | undefined) => void
  /** Hears the x under the cursor. */
  onMove?: (x: number | undefined) => void
  /** Hears the x under the cursor when it is clicked. */
  onPick?: (x: number) => void
  /** Hands out the chart, for instance to export its picture. */
  onDrawn?: (chart: uPlot) => void
}

const FONT = '12px system-ui, sans-serif'

const HEADROOM = 1.08

/** uPlot's number for a logarithmic scale: its types have a name for it, the module does not. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- there is no such value to take it from
const LOGARITHMIC: uPlot.Scale.Distr = 3

const INK: Record<Theme, { text: string; grid: string }> = {
  light: { text: '#545d68', grid: '#e3e7eb' },
  dark: { text: '#a8b1ba', grid: '#2a3036' },
}

export function Chart(props: ChartProps) {
  const { title, lines, limits = [], height = 240 } = props
  const theme = useTheme()
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  const [at, setAt] = useState<number | undefined>()

  // The chart is built anew only when its lines change in kind: new numbers are put into the old one.
  const shape = JSON.stringify([theme, height, props.cursor, props.x, props.y, limits, lines.map(shapeOf)])
  useEffect(() => {
    const holder = place.current
    if (!holder) return
    const hooks: Hooks = {
      moved: (x) => {
        setAt(x)
        latest.current.onMove?.(x)
      },
      picked: (clicked) => {
        const { left } = clicked.cursor
        if (left !== undefined && left >= 0) latest.current.onPick?.(clicked.posToVal(left, 'x'))
      },
    }
    const made = options(latest, theme, holder.clientWidth, height, hooks)
    const plot = new uPlot(made, dataOf(latest.current.lines), holder)
    chart.current = plot
    latest.current.onDrawn?.(plot)
    const watcher = new ResizeObserver(() => {
      plot.setSize({ width: holder.clientWidth, height })
    })
    watcher.observe(holder)
    return () => {
      watcher.disconnect()
      plot.destroy()
      chart.current = undefined
    }
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `shape` says all that the chart depends on
  }, [shape])

  const data = useMemo(() => dataOf(lines), [lines])
  useEffect(() => {
    chart.current?.setData(data)
    if (chart.current) latest.current.onDrawn?.(chart.current)
  }, [data])

  const { from, to } = props.span ?? {}
  useEffect(() => {
    if (from !== undefined && to !== undefined) chart.current?.setScale('x', { min: from, max: to })
  }, [from, to, data, shape])

  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        <Legend lines={lines} limits={limits} x={props.x} unit={props.y.unit} at={at} />
      </figcaption>
      <div ref={place} class="chart-canvas" style={{ height: `${height}px` }} role="img" aria-label={describe(props)} />
    </figure>
  )
}

interface LegendProps {
  lines: Line[]
  limits: Limit[]
  x: Axis
  unit: string
  /** The x under the cursor. */
  at: number | undefined
}

/** Names of the lines, and their values under the cursor. The values have room of their own, so that nothing moves. */
function Legend({ lines, limits, x, unit, at }: LegendProps) {
  return (
    <ul class="legend">
      <li class="at">{at === undefined ? '' : withUnit(at, x.unit)}</li>
      {lines.map((line) => (
        <li key={line.label}>
          <Swatch style={line.style} /> {line.label}
          <span class="value">{at === undefined ? '' : withUnit(valueAt(line, at), unit)}</span>
        </li>
      ))}
      {limits.map((limit) => (
        <li key={limit.label} class="soft">
          <span class="limit-swatch" aria-hidden="true" /> {limit.label}
        </li>
      ))}
    </ul>
  )
}

function shapeOf(line: Line) {
  return [line.label, line.style, line.step, line.points, line.band !== undefined]
}

function describe({ title, x, y, lines }: ChartProps): string {
  return `${title}: ${y.label} over ${x.label} of ${lines.map((line) => line.label).join(', ') || 'nothing yet'}`
}

/** A line with a band is three of uPlot's: itself and the ends of its band. */
function pointsOf(lines: Line[]): Points[] {
  return lines.flatMap((line) =>
    line.band ? [line, { x: line.x, y: line.band.high }, { x: line.x, y: line.band.low }] : [line],
  )
}

function dataOf(lines: Line[], from?: number, to?: number): Aligned {
  const points = pointsOf(lines)
  const [first, last] = extent(points) ?? [0, 1]
  return align(points, from ?? first, to ?? last)
}

interface Hooks {
  moved: (x: number | undefined) => void
  picked: (plot: uPlot) => void
}

interface Latest {
  current: ChartProps
}

function options(latest: Latest, theme: Theme, width: number, height: number, hooks: Hooks): uPlot.Options {
  const { x, y, cursor, lines, span } = latest.current
  return {
    width,
    height,
    legend: { show: false },
    focus: { alpha: 0.35 },
    cursor: {
      ...(cursor === undefined ? {} : { sync: { key: cursor, setSeries: false } }),
      drag: { x: true, y: false, setScale: !span },
      ...(span ? { bind: { dblclick: () => () => resetSpan(latest) } } : {}),
      points: { size: 7 },
    },
    scales: {
      x: { time: false, ...(x.log ? { distr: LOGARITHMIC } : {}) },
      y: y.log
        ? { distr: LOGARITHMIC, range: (_plot, low, high) => uPlot.rangeLog(low || 1, high || 10, 10, false) }
        : { range: (_plot, low, high) => rangeOf(low, high, latest.current.limits ?? []) },
    },
    axes: [axis(x, theme, 40), axis(y, theme, 52)],
    series: [{}, ...lines.flatMap(seriesOf)],
    bands: bandsOf(lines),
    hooks: {
      draw: [
        (plot) => {
          drawLimits(plot, latest.current.limits ?? [], theme)
        },
      ],
      setScale: [
        (plot, key) => {
          if (key === 'x') refine(plot, latest)
        },
      ],
      setSelect: [
        (plot) => {
          if (span) wish(plot, latest)
        },
      ],
      setCursor: [
        (plot) => {
          hooks.moved(
            plot.cursor.left === undefined || plot.cursor.left < 0 ? undefined : plot.posToVal(plot.cursor.left, 'x'),
          )
        },
      ],
      ready: [
        (plot) => {
          plot.over.addEventListener('click', () => {
            hooks.picked(plot)
          })
        },
      ],
    },
  }
}

function resetSpan(latest: Latest): null {
  latest.current.onSpan?.(undefined)
  return null
}

/** What was dragged over is wished for, and stays marked no longer. */
function wish(plot: uPlot, latest: Latest): void {
  const { left, width } = plot.select
  if (width <= 0) return
  latest.current.onSpan?.({ from: plot.posToVal(left, 'x'), to: plot.posToVal(left + width, 'x') })
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
}

/** Far above a chart, where its horizontal line is not seen. */
const ABOVE = -10_000

/** Moves the cursor of all charts with this name to an x, or away. */
export function pointAt(cursor: string, x: number | undefined): void {
  for (const plot of uPlot.sync(cursor).plots) {
    const left = x === undefined ? -10 : plot.valToPos(x, 'x')
    plot.setCursor({ left, top: ABOVE }, true)
  }
}

/** From zero unless values are negative, with room above. */
function rangeOf(low: number | null, high: number | null, limits: Limit[]): [number, number] {
  const top = Math.max(high ?? 0, ...limits.map((limit) => limit.y ?? 0))
  return [Math.min(low ?? 0, 0), top > 0 ? top * HEADROOM : 1]
}

function axis({ label, unit }: Axis, theme: Theme, size: number): uPlot.Axis {
  const scaleOf = (plot: uPlot, index: number) => {
    const { min, max } = plot.scales[index === 0 ? 'x' : 'y'] ?? {}
    return scaleFor(Math.max(Math.abs(min ?? 0), Math.abs(max ?? 0)), unit)
  }
  const shared: uPlot.Axis = {
    stroke: INK[theme].text,
    grid: { stroke: INK[theme].grid, width: 1 },
    ticks: { stroke: INK[theme].grid, width: 1, size: 4 },
    font: FONT,
    labelFont: FONT,
    labelSize: 18,
    size,
    // On a logarithmic axis not all lines are labelled.
    values: (plot, splits: (number | null)[], index) =>
      splits.map((value) => (value === null ? '' : tick(value / scaleOf(plot, index).factor))),
  }
  const labelled = (plot: uPlot, index: number) => {
    const shown = scaleOf(plot, index).unit
    return shown ? `${label} (${shown})` : label
  }
  // uPlot calls a function for the label, which its types do not say.
  return Object.assign(shared, { label: labelled })
}

/** Without the noise of binary fractions. */
function tick(value: number): string {
  return digits(Number(value.toPrecision(10)))
}

function seriesOf(line: Line): uPlot.Series[] {
  const { colour, dash, marker } = line.style
  const stepped = line.step ? uPlot.paths.stepped?.({ align: 1 }) : undefined
  const main: uPlot.Series = {
    label: line.label,
    stroke: colour,
    width: 1.75,
    dash,
    spanGaps: true,
    ...(stepped ? { paths: stepped } : {}),
    points: line.points
      ? { show: true, fill: colour, paths: (plot, index) => ({ stroke: null, fill: markersOf(plot, index, marker) }) }
      : { show: false },
  }
  const edge: uPlot.Series = { stroke: 'transparent', width: 0, spanGaps: true, points: { show: false } }
  return line.band ? [main, edge, edge] : [main]
}

function markersOf(plot: uPlot, index: number, marker: Marker): Path2D {
  const path = new Path2D()
  const ys = plot.data[index] ?? []
  plot.data[0].forEach((x, at) => {
    const y = ys[at]
    if (y === null || y === undefined) return
    addMarker(path, marker, plot.valToPos(x, 'x', true), plot.valToPos(y, 'y', true), 4.5 * devicePixelRatio)
  })
  return path
}

function bandsOf(lines: Line[]): uPlot.Band[] {
  const bands: uPlot.Band[] = []
  let index = 1
  for (const line of lines) {
    if (line.band) bands.push({ series: [index + 1, index + 2], fill: line.style.colour + '33' })
    index += line.band ? 3 : 1
  }
  return bands
}

function drawLimits(plot: uPlot, limits: Limit[], theme: Theme): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.strokeStyle = INK[theme].text
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio])
  ctx.lineWidth = devicePixelRatio
  ctx.beginPath()
  for (const { x, y } of limits) {
    if (y !== undefined) {
      const top = Math.round(plot.valToPos(y, 'y', true))
      ctx.moveTo(bbox.left, top)
      ctx.lineTo(bbox.left + bbox.width, top)
    }
    const { min, max } = plot.scales.x ?? {}
    if (x !== undefined && min !== undefined && max !== undefined && x >= min && x <= max) {
      const left = Math.round(plot.valToPos(x, 'x', true))
      ctx.moveTo(left, bbox.top)
      ctx.lineTo(left, bbox.top + bbox.height)
    }
  }
  ctx.stroke()
  ctx.restore()
}

/** After a zoom the points of the new view are taken from the lines themselves. */
function refine(plot: uPlot, latest: Latest): void {
  const { min, max } = plot.scales.x ?? {}
  if (min === undefined || max === undefined) return
  const data = dataOf(latest.current.lines, min, max)
  if (data[0].length !== plot.data[0].length || data[0][0] !== plot.data[0][0]) plot.setData(data, false)
}
