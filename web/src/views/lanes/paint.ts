/** Paints lanes: a row per flow, in colours and in shapes. */

import { HANDSHAKE, RECOVERING, SENDING, TIMEOUT, WAITING, type Lane } from '../../trace/lanes'
import { withUnit } from '../../ui/numbers'
import { ticksOf, type Span } from './span'

export interface Ink {
  page: string
  text: string
  soft: string
  line: string
  link: string
  bad: string
  part: string
}

/** Below the rows. */
export const AXIS = 24
/** A tick's label has room in so many pixels. */
const TICK = 80
/** Rows that are thinner have no frames and no gaps between them. */
const FRAMED = 5

export interface Frame {
  width: number
  height: number
  /** Device pixels per pixel. */
  scale: number
  span: Span
  /** Height of a row, and how far the rows are scrolled, in pixels. */
  pitch: number
  top: number
  ink: Ink
}

export function xOf({ span, width }: Frame, time: number): number {
  return ((time - span.from) / (span.to - span.from)) * width
}

export function timeAt({ span, width }: Frame, x: number): number {
  return span.from + (Math.min(Math.max(x, 0), width) / width) * (span.to - span.from)
}

function begin(pen: CanvasRenderingContext2D, { width, height, scale }: Frame): void {
  pen.setTransform(scale, 0, 0, scale, 0, 0)
  pen.clearRect(0, 0, width, height)
}

export function paintLanes(pen: CanvasRenderingContext2D, lanes: Lane[], frame: Frame): void {
  const { pitch, top, height } = frame
  begin(pen, frame)
  paintAxis(pen, frame)
  pen.save()
  pen.beginPath()
  pen.rect(0, 0, frame.width, height - AXIS)
  pen.clip()
  const first = Math.max(Math.floor(top / pitch), 0)
  const last = Math.min(Math.ceil((top + height - AXIS) / pitch), lanes.length)
  // What makes the gaps is painted last, so that it stays visible where rows are thinner than a pixel.
  for (const states of [[HANDSHAKE, WAITING], [TIMEOUT], [RECOVERING, SENDING]]) {
    for (let at = first; at < last; at++) {
      const lane = lanes[at]
      if (lane) paintRow(pen, lane, states, (at + 0.5) * pitch - top, frame)
    }
  }
  if (pitch >= 2) for (let at = first; at < last; at++) paintEnd(pen, lanes[at], (at + 0.5) * pitch - top, frame)
  pen.restore()
}

function paintRow(pen: CanvasRenderingContext2D, lane: Lane, states: number[], y: number, frame: Frame): void {
  const { span, pitch, width } = frame
  const size = Math.max(pitch >= FRAMED ? pitch * 0.76 : pitch, 1)
  // Parts within one pixel of the screen are one.
  let done = -1
  for (const { from, to, state } of lane.parts) {
    if (to < span.from || from > span.to || !states.includes(state)) continue
    const left = Math.max(xOf(frame, from), -1)
    const right = Math.min(xOf(frame, to), width + 1)
    if (right - left < 1 && Math.floor(left) === done) continue
    done = right - left < 1 ? Math.floor(left) : -1
    paintPart(pen, state, left, right, y, Math.min(size, 14), frame)
  }
}

function paintPart(
  pen: CanvasRenderingContext2D,
  state: number,
  left: number,
  right: number,
  y: number,
  size: number,
  { ink, pitch }: Frame,
): void {
  const width = right - left
  if (state === SENDING || state === RECOVERING) {
    pen.fillStyle = state === SENDING ? ink.link : ink.part
    const tall = state === SENDING ? size : size * 0.55
    pen.fillRect(left, y - tall / 2, Math.max(width, 1), tall)
  } else if (state === TIMEOUT) {
    const framed = pitch >= FRAMED && width >= 3
    const tall = Math.max(size, 1.5)
    pen.fillStyle = ink.bad
    pen.globalAlpha = framed ? 0.3 : 1
    pen.fillRect(left, y - tall / 2, Math.max(width, 1), tall)
    pen.globalAlpha = 1
    if (!framed) return
    pen.strokeStyle = ink.bad
    pen.lineWidth = 1.25
    pen.strokeRect(left + 0.6, y - size / 2 + 0.6, width - 1.2, Math.max(size - 1.2, 0.5))
  } else {
    pen.strokeStyle = ink.soft
    pen.lineWidth = Math.min(1.5, size)
    pen.setLineDash(state === HANDSHAKE ? [2, 2] : [])
    pen.beginPath()
    pen.moveTo(left, y)
    pen.lineTo(right, y)
    pen.stroke()
    pen.setLineDash([])
  }
}

/** A stroke where the last byte arrived. */
function paintEnd(pen: CanvasRenderingContext2D, lane: Lane | undefined, y: number, frame: Frame): void {
  if (!lane?.completed || lane.end < frame.span.from || lane.end > frame.span.to) return
  const x = xOf(frame, lane.end)
  const size = Math.min(frame.pitch * 0.9, 16)
  pen.fillStyle = frame.ink.text
  pen.fillRect(Math.min(x, frame.width - 1.5), y - size / 2, 1.5, size)
}

function paintAxis(pen: CanvasRenderingContext2D, frame: Frame): void {
  const { width, height, ink, span } = frame
  const bottom = height - AXIS
  pen.font = '12px system-ui, sans-serif'
  pen.textBaseline = 'middle'
  pen.lineWidth = 1
  for (const time of ticksOf(span, Math.floor(width / TICK))) {
    const x = xOf(frame, time)
    pen.strokeStyle = ink.line
    pen.beginPath()
    pen.moveTo(Math.round(x) + 0.5, 0)
    pen.lineTo(Math.round(x) + 0.5, bottom + 4)
    pen.stroke()
    pen.fillStyle = ink.soft
    const text = withUnit(Number(time.toPrecision(9)), 's')
    const half = pen.measureText(text).width / 2
    pen.fillText(text, Math.min(Math.max(x - half, 0), width - 2 * half), bottom + 14)
  }
  pen.strokeStyle = ink.line
  pen.strokeRect(-1, -1, width + 2, bottom + 1.5)
}

export interface Marks {
  /** Row of the chosen lane. */
  chosen: number
  /** Time of the cursor. */
  at: number | undefined
  /** What is being chosen by dragging, in time. */
  dragged: Span | undefined
}

/** What moves: the chosen row, the cursor, and what is dragged over. */
export function paintMarks(pen: CanvasRenderingContext2D, { chosen, at, dragged }: Marks, frame: Frame): void {
  const { ink, pitch, top, width, height } = frame
  begin(pen, frame)
  pen.save()
  pen.beginPath()
  pen.rect(0, 0, width, height - AXIS)
  pen.clip()
  if (chosen >= 0) {
    const tall = Math.max(pitch, 5)
    const y = (chosen + 0.5) * pitch - top
    pen.strokeStyle = ink.text
    pen.lineWidth = 2
    pen.strokeRect(1, y - tall / 2 - 0.5, width - 2, tall + 1)
  }
  if (dragged) {
    pen.fillStyle = ink.link
    pen.globalAlpha = 0.2
    pen.fillRect(xOf(frame, dragged.from), 0, xOf(frame, dragged.to) - xOf(frame, dragged.from), height)
    pen.globalAlpha = 1
  }
  if (at !== undefined) {
    pen.fillStyle = ink.text
    pen.fillRect(Math.round(xOf(frame, at)), 0, 1, height)
  }
  pen.restore()
}
