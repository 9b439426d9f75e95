/** A row per answer: each packet that arrives, and each that was lost. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Outcome } from '../../engine/types'
import { withUnit } from '../../ui/numbers'
import { styleOf } from '../../ui/palette'
import { useTheme, type Theme } from '../../ui/theme'
import { lanesOf, type Lane } from './runs'

const HEIGHT = 300
const AXIS = 22

const LOST: Record<Theme, string> = { light: '#a3181d', dark: '#ff938e' }
const INK: Record<Theme, { text: string; row: string }> = {
  light: { text: '#545d68', row: '#e3e7eb' },
  dark: { text: '#a8b1ba', row: '#2a3036' },
}

interface Props {
  outcome: Outcome | undefined
  scheme: string
}

export function Lanes({ outcome, scheme }: Props) {
  const theme = useTheme()
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  const drawn = useMemo(() => outcome && lanesOf(outcome), [outcome])
  useEffect(() => {
    const place = canvas.current?.parentElement
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
    if (canvas.current && drawn && width > 0) draw(canvas.current, width, { ...drawn, scheme, theme })
  }, [drawn, width, scheme, theme])
  const rows = drawn?.lanes.length ?? 0
  const again = drawn?.lanes.reduce((sum, lane) => sum + lane.again.length, 0) ?? 0
  const lost = drawn?.lanes.reduce((sum, lane) => sum + lane.lost.length, 0) ?? 0
  const label = `Packets of ${rows} answers over ${drawn ? withUnit(drawn.to - drawn.from, 's') : ''}: ${lost} lost, ${again} sent again`
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{`${scheme}: a row per answer, the first to end at the top`}</span>
        <ul class="legend">
          <li>
            <Key shape="dot" colour={styleOf(scheme, theme).colour} /> arrives
          </li>
          <li>
            <Key shape="ring" colour={styleOf(scheme, theme).colour} /> arrives, sent again
          </li>
          <li>
            <Key shape="cross" colour={LOST[theme]} /> lost
          </li>
        </ul>
      </figcaption>
      <div class="learn-lanes" style={{ height: `${HEIGHT}px` }}>
        <canvas ref={canvas} role="img" aria-label={label} />
      </div>
    </figure>
  )
}

function Key({ shape, colour }: { shape: 'dot' | 'ring' | 'cross'; colour: string }) {
  return (
    <svg viewBox="-6 -6 12 12" width="12" height="12" aria-hidden="true">
      {shape === 'dot' && <circle r="3" fill={colour} />}
      {shape === 'ring' && <circle r="3.5" fill="none" stroke={colour} stroke-width="1.5" />}
      {shape === 'cross' && <path d="M-4 -4L4 4M-4 4L4 -4" stroke={colour} stroke-width="2" />}
    </svg>
  )
}

interface Drawing {
  lanes: Lane[]
  from: number
  to: number
  scheme: string
  theme: Theme
}

function draw(canvas: HTMLCanvasElement, width: number, { lanes, from, to, scheme, theme }: Drawing): void {
  const scale = devicePixelRatio
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(HEIGHT * scale)
  const pen = canvas.getContext('2d')
  if (!pen) return
  pen.scale(scale, scale)
  const room = HEIGHT - AXIS
  const pitch = room / Math.max(lanes.length, 1)
  const size = Math.min(Math.max(pitch / 3, 1), 3)
  const left = 8
  const across = Math.max(width - 2 * left, 1)
  const place = (time: number) => left + ((time - from) / (to - from || 1)) * across
  const { colour } = styleOf(scheme, theme)
  lanes.forEach((lane, index) => {
    const y = (index + 0.5) * pitch
    pen.strokeStyle = INK[theme].row
    pen.lineWidth = 1
    stroke(pen, [[left, y, left + across, y]])
    pen.fillStyle = colour
    for (const time of lane.arrived) dot(pen, place(time), y, size).fill()
    pen.strokeStyle = colour
    pen.lineWidth = 1.2
    for (const time of lane.again) dot(pen, place(time), y, size + 0.5).stroke()
    pen.strokeStyle = LOST[theme]
    for (const x of lane.lost.map(place)) {
      stroke(pen, [
        [x - size, y - size, x + size, y + size],
        [x - size, y + size, x + size, y - size],
      ])
    }
  })
  pen.fillStyle = INK[theme].text
  pen.font = '12px system-ui, sans-serif'
  const marks = [0, 0.25, 0.5, 0.75, 1]
  marks.forEach((share, index) => {
    pen.textAlign = index === 0 ? 'left' : index === marks.length - 1 ? 'right' : 'center'
    pen.fillText(withUnit(share * (to - from), 's'), left + share * across, HEIGHT - 6)
  })
}

function dot(pen: CanvasRenderingContext2D, x: number, y: number, radius: number): CanvasRenderingContext2D {
  pen.beginPath()
  pen.arc(x, y, radius, 0, 2 * Math.PI)
  return pen
}

function stroke(pen: CanvasRenderingContext2D, lines: [number, number, number, number][]): void {
  pen.beginPath()
  for (const [x, y, toX, toY] of lines) {
    pen.moveTo(x, y)
    pen.lineTo(toX, toY)
  }
  pen.stroke()
}
