/** A row for each answer: when it sends, when it waits, and where its packets are lost. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { SENDING, TIMEOUT } from '../../trace/lanes'
import { withUnit } from '../../ui/numbers'
import { styleOf } from '../../ui/palette'
import { useTheme, type Theme } from '../../ui/theme'
import { rowsOf, type Row, type Run } from './runs'
import { LONG } from './scenarios'

/** Of all pictures of a step together. */
const HEIGHT = 340
const AXIS = 22
const SIDE = 8

const BAD: Record<Theme, string> = { light: '#a3181d', dark: '#ff938e' }
const INK: Record<Theme, { text: string; row: string }> = {
  light: { text: '#545d68', row: '#c4cad1' },
  dark: { text: '#a8b1ba', row: '#48515a' },
}

interface Span {
  from: number
  to: number
}

interface Props {
  runs: Run[]
  /** How many pictures there will be. */
  pictures: { label: string; scheme: string }[]
  what: string
}

/** The pictures of all runs, over the same time. */
export function Lanes({ runs, pictures, what }: Props) {
  const drawn = useMemo(() => runs.map((run) => ({ run, rows: rowsOf(run) })), [runs])
  const span = useMemo(() => spanOf(drawn.map(({ rows }) => rows)), [drawn])
  return (
    <div>
      <Legend scheme={pictures[0]?.scheme ?? ''} />
      {pictures.map(({ label, scheme }, index) => (
        <Picture
          key={label}
          title={`${label}: a row for each ${what}${drawn.some(hasLong) ? ', long flows below' : ''}`}
          scheme={scheme}
          rows={drawn[index]?.rows ?? []}
          span={span}
          height={HEIGHT / pictures.length}
          label={describe(label, what, drawn[index]?.run)}
        />
      ))}
    </div>
  )
}

/** Long flows are drawn too, but nobody waits for them. */
function hasLong({ rows }: { rows: Row[] }): boolean {
  return rows.some(({ group }) => group === LONG)
}

/** From the first start to the last end of what the client waits for. */
function spanOf(all: Row[][]): Span {
  const rows = all.flat().filter(({ group }) => group !== LONG)
  if (rows.length === 0) return { from: 0, to: 1 }
  return { from: Math.min(...rows.map(({ start }) => start)), to: Math.max(...rows.map(({ end }) => end)) }
}

function describe(label: string, what: string, run: Run | undefined): string {
  if (!run) return `${label}: nothing yet`
  const { answers, waited, lost } = run.facts
  return `${label}: a row for each of ${answers}, the first ${what} to end at the top; ${lost} packets lost, ${waited} wait for a timer`
}

function Legend({ scheme }: { scheme: string }) {
  const theme = useTheme()
  const { colour } = styleOf(scheme, theme)
  return (
    <ul class="legend learn-legend">
      <li>
        <Key>
          <rect x="0" y="2" width="22" height="8" fill={colour} />
        </Key>{' '}
        sends
      </li>
      <li>
        <Key>
          <path d="M0 6H22" stroke={INK[theme].row} stroke-width="2" />
        </Key>{' '}
        waits for the other end
      </li>
      <li>
        <Key>
          <rect x="1" y="2" width="20" height="8" fill="none" stroke={BAD[theme]} stroke-width="2" />
        </Key>{' '}
        waits for its timer
      </li>
      <li>
        <Key>
          <path d="M7 2L15 10M7 10L15 2" stroke={BAD[theme]} stroke-width="2" />
        </Key>{' '}
        packet lost
      </li>
    </ul>
  )
}

function Key({ children }: { children: preact.ComponentChildren }) {
  return (
    <svg viewBox="0 0 22 12" width="22" height="12" aria-hidden="true">
      {children}
    </svg>
  )
}

interface PictureProps {
  title: string
  scheme: string
  rows: Row[]
  span: Span
  height: number
  label: string
}

function Picture({ title, scheme, rows, span, height, label }: PictureProps) {
  const theme = useTheme()
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const place = canvas.current
    if (!place) return
    const watcher = new ResizeObserver(() => {
      setWidth(place.clientWidth)
    })
    watcher.observe(place)
    return () => {
      watcher.disconnect()
    }
  }, [])
  useEffect(() => {
    const pen = canvas.current && prepare(canvas.current, width, height)
    if (pen && width > 0) new Painter(pen, width, height, span, scheme, theme).paint(rows)
  }, [rows, span, width, height, scheme, theme])
  return (
    <figure class="chart">
      <figcaption class="chart-title">{title}</figcaption>
      <canvas ref={canvas} class="learn-lanes" style={{ height: `${height}px` }} role="img" aria-label={label} />
    </figure>
  )
}

function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  canvas.width = Math.round(width * devicePixelRatio)
  canvas.height = Math.round(height * devicePixelRatio)
  const pen = canvas.getContext('2d')
  pen?.scale(devicePixelRatio, devicePixelRatio)
  return pen
}

class Painter {
  private readonly across: number

  constructor(
    private readonly pen: CanvasRenderingContext2D,
    width: number,
    private readonly height: number,
    private readonly span: Span,
    private readonly scheme: string,
    private readonly theme: Theme,
  ) {
    this.across = Math.max(width - 2 * SIDE, 1)
  }

  paint(rows: Row[]): void {
    const pitch = (this.height - AXIS) / Math.max(rows.length, 1)
    rows.forEach((row, index) => {
      this.row(row, (index + 0.5) * pitch, Math.min(Math.max(pitch * 0.7, 1.5), 12))
    })
    this.axis()
  }

  private x(time: number): number {
    const { from, to } = this.span
    const share = (time - from) / (to - from || 1)
    return SIDE + Math.min(Math.max(share, 0), 1) * this.across
  }

  private row({ parts, sent, lost }: Row, y: number, size: number): void {
    for (const { from, to, state } of parts) this.part(state, this.x(from), this.x(to), y, size)
    this.pen.fillStyle = styleOf(this.scheme, this.theme).colour
    for (const time of sent) {
      if (time >= this.span.from && time <= this.span.to) this.pen.fillRect(this.x(time), y - size / 2, 1, size)
    }
    this.pen.strokeStyle = BAD[this.theme]
    this.pen.lineWidth = 1.25
    this.pen.beginPath()
    const arm = Math.min(size / 2 + 0.5, 4)
    for (const time of lost) {
      const x = this.x(time)
      this.pen.moveTo(x - arm, y - arm)
      this.pen.lineTo(x + arm, y + arm)
      this.pen.moveTo(x - arm, y + arm)
      this.pen.lineTo(x + arm, y - arm)
    }
    this.pen.stroke()
  }

  private part(state: number, from: number, to: number, y: number, size: number): void {
    const { pen, theme } = this
    const width = to - from
    if (width <= 0) return
    if (state === TIMEOUT) {
      pen.strokeStyle = BAD[theme]
      pen.lineWidth = Math.min(size / 4, 1.5)
      pen.strokeRect(from + 0.5, y - size / 2 + 0.5, Math.max(width - 1, 0.5), Math.max(size - 1, 0.5))
    } else if (state === SENDING) {
      pen.fillStyle = styleOf(this.scheme, theme).colour
      pen.fillRect(from, y - size / 2, Math.max(width, 1), size)
    } else {
      pen.fillStyle = INK[theme].row
      pen.fillRect(from, y - 0.75, width, 1.5)
    }
  }

  private axis(): void {
    const { pen, span } = this
    pen.fillStyle = INK[this.theme].text
    pen.font = '12px system-ui, sans-serif'
    const shares = [0, 0.5, 1]
    shares.forEach((share, index) => {
      pen.textAlign = index === 0 ? 'left' : index === shares.length - 1 ? 'right' : 'center'
      const time = Number((share * (span.to - span.from)).toPrecision(3))
      pen.fillText(withUnit(time, 's'), SIDE + share * this.across, this.height - 6)
    })
  }
}
