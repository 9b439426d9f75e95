/** The bottleneck's queue over time, with losses, marks and timeouts above it. */

import { tableOf, valuesOf } from '../../engine/simulate'
import { firstAbove } from '../../ui/chartdata'
import type { Trace } from '../../trace/session'
import type { Port, Threshold } from './ports'
import type { Ink } from './scene'

export interface StripData {
  time: Float64Array
  packets: Float64Array
  drops: Float64Array
  marks: Float64Array
  timeouts: Float64Array
  /** Thresholds and the buffer, in packets. */
  limits: number[]
  most: number
}

export function stripOf(trace: Trace, port: Port | undefined, thresholds: Threshold[]): StripData {
  const table = tableOf(trace.outcome, 'queue-trace')
  const packets = valuesOf(table, 'packets')
  const inPackets = thresholds.filter((each) => each.inPackets).map((each) => each.value)
  const buffer = port?.inPackets && !port.unlimited ? [port.capacity] : []
  const limits = [...inPackets, ...buffer]
  const most = packets.reduce((largest, each) => Math.max(largest, each), Math.max(1, ...buffer))
  const { drops, marks } = trace.hops
  const time = valuesOf(table, 'time_s')
  return { time, packets, drops: drops.time, marks: marks.time, timeouts: trace.timeouts.time, limits, most }
}

const RUG = 7
const TOP = 3 * RUG + 4

interface Span {
  from: number
  to: number
}

/** Draws a span of time; the cursor stands at `now`. */
export function drawStrip(
  context: CanvasRenderingContext2D,
  data: StripData,
  { from, to }: Span,
  now: number,
  ink: Ink,
  scale: number,
): void {
  const width = context.canvas.width / scale
  const height = context.canvas.height / scale
  context.setTransform(scale, 0, 0, scale, 0, 0)
  context.clearRect(0, 0, width, height)
  const xOf = (time: number) => ((time - from) / (to - from)) * width
  const yOf = (packets: number) => height - 1 - (packets / data.most) * (height - TOP - 3)
  rug(context, data.timeouts, { from, to }, width, 0, ink.bad, true)
  rug(context, data.drops, { from, to }, width, RUG, ink.bad, false)
  rug(context, data.marks, { from, to }, width, 2 * RUG, ink.part, false)
  queue(context, data, { from, to }, width, yOf, ink)
  context.strokeStyle = ink.soft
  context.setLineDash([3, 3])
  context.lineWidth = 1
  for (const limit of data.limits) {
    context.beginPath()
    context.moveTo(0, Math.round(yOf(limit)) + 0.5)
    context.lineTo(width, Math.round(yOf(limit)) + 0.5)
    context.stroke()
  }
  context.setLineDash([])
  context.fillStyle = ink.text
  context.fillRect(Math.min(Math.max(xOf(now) - 1, 0), width - 2), 0, 2, height)
}

/** A tick for each pixel in which something happened; timeouts have wider ones. */
function rug(
  context: CanvasRenderingContext2D,
  times: Float64Array,
  { from, to }: Span,
  width: number,
  top: number,
  colour: string,
  wide: boolean,
): void {
  context.fillStyle = colour
  const last = firstAbove(times, to)
  let at = firstAbove(times, from)
  while (at < last) {
    const x = Math.floor((((times[at] ?? 0) - from) / (to - from)) * width)
    context.fillRect(wide ? x - 1 : x, top, wide ? 3 : 1, RUG - 2)
    // The next one that is not in the same pixel.
    at = Math.max(firstAbove(times, from + ((x + 1) / width) * (to - from)), at + 1)
  }
}

/** The largest queue of each pixel. */
function queue(
  context: CanvasRenderingContext2D,
  { time, packets }: StripData,
  { from, to }: Span,
  width: number,
  yOf: (packets: number) => number,
  ink: Ink,
): void {
  context.fillStyle = ink.link
  const bottom = yOf(0)
  let at = firstAbove(time, from)
  let held = packets[at - 1] ?? 0
  for (let x = 0; x < width; x++) {
    const limit = from + ((x + 1) / width) * (to - from)
    let largest = held
    const next = firstAbove(time, limit)
    for (; at < next; at++) largest = Math.max(largest, packets[at] ?? 0)
    held = packets[at - 1] ?? held
    if (largest > 0) context.fillRect(x, yOf(largest), 1, bottom - yOf(largest))
  }
}
