/** Draws a moment: the network once, packets and queues in every frame. */

import { firstAbove } from '../../ui/chartdata'
import type { Theme } from '../../ui/theme'
import { ARRIVED, DROPPED, eachAt, WAITING, type Moments } from '../../trace/hops'
import type { Trace } from '../../trace/session'
import type { Layout, Spot } from './layout'
import type { Port, Threshold } from './ports'
import { ACKNOWLEDGEMENT, CONTROL, DATA, MARKED, RETRANSMISSION, stamp, type Sprites } from './sprites'

export interface Ink {
  page: string
  text: string
  soft: string
  line: string
  link: string
  bad: string
  part: string
}

/** The colours of the page's theme. */
export function inkOf(element: Element): Ink {
  const style = getComputedStyle(element)
  const [page = '', text = '', soft = '', line = '', link = '', bad = '', part = ''] = [
    'page',
    'text',
    'soft',
    'line',
    'link',
    'bad',
    'part',
  ].map((name) => style.getPropertyValue(`--${name}`).trim())
  return { page, text, soft, line, link, bad, part }
}

export interface View {
  trace: Trace
  layout: Layout
  ports: Port[]
  thresholds: Threshold[]
  sprites: Sprites
  ink: Ink
  theme: Theme
  width: number
  height: number
  /** Device pixels per pixel. */
  scale: number
}

/** What a frame shows, in numbers. */
export interface Counts {
  onLinks: number
  waiting: number
}

/** How long a loss, a mark or a timeout stays visible, in seconds of the one who watches. */
const SHOWN = { drop: 0.7, mark: 0.25, timeout: 1.5 }
const HOST = 5
const SWITCH = 13

export function drawNetwork(context: CanvasRenderingContext2D, view: View): void {
  const { layout, ink, trace, width, height, scale } = view
  context.setTransform(scale, 0, 0, scale, 0, 0)
  context.clearRect(0, 0, width, height)
  context.strokeStyle = ink.line
  trace.topology.links.forEach((link) => {
    if (link.from > link.to) return
    const from = layout.spots[layout.spotOf[link.from] ?? 0]
    const to = layout.spots[layout.spotOf[link.to] ?? 0]
    if (!from || !to) return
    context.lineWidth = link.bottleneck ? 4 : 1
    context.beginPath()
    context.moveTo(from.x, from.y)
    context.lineTo(to.x, to.y)
    context.stroke()
  })
  for (const spot of layout.spots) drawSpot(context, view, spot)
}

function drawSpot(context: CanvasRenderingContext2D, { layout, ink }: View, spot: Spot): void {
  const { x, y, label, kind, nodes } = spot
  context.fillStyle = ink.page
  context.strokeStyle = ink.soft
  context.lineWidth = 1.5
  context.beginPath()
  if (kind === 'switch') context.rect(x - SWITCH, y - SWITCH, 2 * SWITCH, 2 * SWITCH)
  else if (nodes.length > 1) context.rect(x - HOST, y - HOST, 2 * HOST, 2 * HOST)
  else context.arc(x, y, HOST, 0, 2 * Math.PI)
  context.fill()
  context.stroke()
  const labels = roomForLabels(layout, spot)
  if (!labels) return
  context.fillStyle = ink.text
  context.font = '11px system-ui, sans-serif'
  context.textBaseline = 'middle'
  if (layout.sideways && kind === 'host') {
    const atLeft = x < (layout.spots.at(-1)?.x ?? 0)
    context.textAlign = atLeft ? 'right' : 'left'
    context.fillText(short(label), x + (atLeft ? -HOST - 5 : HOST + 5), y)
  } else {
    context.textAlign = 'center'
    context.fillText(short(label), x, y + (kind === 'switch' ? -SWITCH - 8 : HOST + 11))
  }
}

/** Names of senders are shortened, as a column of them is narrow. */
function short(label: string): string {
  return label.length > 9 ? label.replace('sender-', 's-').replace('receiver-', 'r-') : label
}

/** Whether labels of this row or column do not overlap. */
function roomForLabels(layout: Layout, spot: Spot): boolean {
  const fellows = layout.spots.filter((other) =>
    layout.sideways && spot.kind === 'host' ? other.x === spot.x : other.y === spot.y,
  )
  if (fellows.length < 2) return true
  const along = layout.sideways && spot.kind === 'host' ? 'y' : 'x'
  const places = fellows.map((each) => each[along]).sort((one, other) => one - other)
  const nearest = Math.min(...places.slice(1).map((place, index) => place - (places[index] ?? 0)))
  return nearest >= (along === 'y' ? 13 : 62)
}

/** Geometry of a port's queue: a bar beside the link, its head at the switch. */
interface Bar {
  port: Port
  x: number
  y: number
  angle: number
  length: number
  thickness: number
}

export class Scene {
  private readonly image: ImageData
  private readonly pixels: Uint32Array
  private readonly bars: Bar[]
  /** By link, the index of its bar, or -1. */
  private readonly barOf: Int32Array
  private readonly filled: Float64Array
  /** By link. */
  private readonly delay: Float64Array
  private readonly perByte: Float64Array
  /** By row of crossings. */
  private readonly kindOf: Uint8Array

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly view: View,
  ) {
    const { width, height, scale, trace, ports } = view
    this.image = new ImageData(Math.max(Math.round(width * scale), 1), Math.max(Math.round(height * scale), 1))
    this.pixels = new Uint32Array(this.image.data.buffer)
    this.bars = ports.map((port) => barFor(view, port))
    this.filled = new Float64Array(this.bars.length)
    const { links } = trace.topology
    this.barOf = new Int32Array(links.length).fill(-1)
    ports.forEach((port, index) => (this.barOf[port.link] = index))
    this.delay = Float64Array.from(links, (link) => link.delay_s)
    this.perByte = Float64Array.from(links, (link) => 8 / link.rate_bps)
    this.kindOf = kindsOf(trace)
  }

  /** `speed` says how long losses and marks stay visible, in simulated time. */
  draw(time: number, speed: number): Counts {
    const { context, view } = this
    this.pixels.fill(0)
    this.filled.fill(0)
    const waiting: number[] = []
    const counts = { onLinks: 0, waiting: 0 }
    const { hops } = view.trace
    const { fate, end, row, link: linkOf, crossings } = hops
    eachAt(hops, time, (at) => {
      const link = linkOf[at] ?? 0
      const state = fate[at] ?? ARRIVED
      const ends = end[at] ?? 0
      if (state === WAITING || state === DROPPED) {
        waiting.push(at)
        return
      }
      const sending = (crossings.size[row[at] ?? 0] ?? 0) * (this.perByte[link] ?? 0)
      const wire = this.delay[link] ?? 0
      const share = (time - (ends - wire - sending)) / (wire + sending)
      if (time < ends - wire) waiting.push(at)
      if (share < 0) return
      counts.onLinks++
      this.packet(at, link, share)
    })
    counts.waiting = waiting.length
    context.setTransform(1, 0, 0, 1, 0, 0)
    context.putImageData(this.image, 0, 0)
    for (const at of waiting) this.queue(at)
    for (const [index, bar] of this.bars.entries()) this.frame(bar, this.filled[index] ?? 0)
    this.events(time, speed)
    return counts
  }

  private packet(at: number, link: number, share: number): void {
    const { layout, sprites, scale, trace } = this.view
    const row = trace.hops.row[at] ?? 0
    const sprite = sprites.pixels[sprites.index(this.kindOf[row] ?? 0, trace.hops.crossings.connection[row] ?? 0)]
    if (!sprite) return
    const x = ((layout.x[link] ?? 0) + share * (layout.dx[link] ?? 0)) * scale
    const y = ((layout.y[link] ?? 0) + share * (layout.dy[link] ?? 0)) * scale
    stamp(this.pixels, this.image.width, this.image.height, sprite, sprites.size, x, y)
  }

  private place(bar: Bar): void {
    const { scale } = this.view
    const [cos, sin] = [Math.cos(bar.angle) * scale, Math.sin(bar.angle) * scale]
    this.context.setTransform(cos, sin, -sin, cos, bar.x * scale, bar.y * scale)
  }

  /** A packet that waits is a slice of its port's bar. */
  private queue(at: number): void {
    const { hops } = this.view.trace
    const index = this.barOf[hops.link[at] ?? 0] ?? -1
    const bar = this.bars[index]
    if (!bar) return
    const { sprites } = this.view
    const row = hops.row[at] ?? 0
    const before = this.filled[index] ?? 0
    const after = before + (bar.port.inPackets ? 1 : (hops.crossings.size[row] ?? 0))
    this.filled[index] = after
    const each = bar.length / bar.port.capacity
    // Slices narrower than a pixel are drawn where a pixel begins.
    if (Math.floor(before * each * 2) === Math.floor(after * each * 2)) return
    this.place(bar)
    this.context.fillStyle =
      sprites.colours[sprites.index(this.kindOf[row] ?? 0, hops.crossings.connection[row] ?? 0)] ?? ''
    const gap = each * (after - before) > 3 ? 0.75 : 0
    const width = Math.max((after - before) * each - gap, 0.5)
    this.context.fillRect(before * each, 0, Math.min(width, bar.length * 1.05 - before * each), bar.thickness)
  }

  private frame(bar: Bar, filled: number): void {
    const { context, view } = this
    this.place(bar)
    context.lineWidth = 1
    context.strokeStyle = filled >= bar.port.capacity ? view.ink.bad : view.ink.soft
    context.setLineDash(bar.port.unlimited ? [2, 3] : [])
    context.strokeRect(-0.5, -0.5, bar.length + 1, bar.thickness + 1)
    context.setLineDash([])
    if (!bar.port.bottleneck) return
    context.strokeStyle = view.ink.text
    for (const { value, inPackets } of view.thresholds) {
      if (inPackets !== bar.port.inPackets || value > bar.port.capacity) continue
      const x = (value / bar.port.capacity) * bar.length
      context.beginPath()
      context.moveTo(x, -4)
      context.lineTo(x, bar.thickness + 4)
      context.stroke()
    }
  }

  private events(time: number, speed: number): void {
    const { drops, marks } = this.view.trace.hops
    const { ink } = this.view
    this.recent(marks, time, speed * SHOWN.mark, ink.part, ring)
    this.recent(drops, time, speed * SHOWN.drop, ink.bad, cross)
    this.recent(this.view.trace.timeouts, time, speed * SHOWN.timeout, ink.bad, clock)
  }

  private recent(moments: Moments, time: number, span: number, colour: string, draw: Symbol): void {
    const { context, view } = this
    const first = firstAbove(moments.time, time - span)
    const last = firstAbove(moments.time, time)
    context.setTransform(view.scale, 0, 0, view.scale, 0, 0)
    context.strokeStyle = colour
    context.lineWidth = 2
    // Of many at one place the latest are seen.
    for (let at = Math.max(first, last - MOST_EVENTS); at < last; at++) {
      const link = moments.link[at] ?? -1
      const [x, y] = this.placeOf(link)
      const age = (time - (moments.time[at] ?? 0)) / span
      context.globalAlpha = 1 - 0.8 * age
      context.beginPath()
      draw(context, x, y, age, at)
      context.stroke()
    }
    context.globalAlpha = 1
  }

  /** Where things happen at a port: at the tail of its bar, or at its node. */
  private placeOf(link: number): [number, number] {
    const bar = this.bars[this.barOf[link] ?? -1]
    if (bar) {
      const along = bar.length + 8
      return [
        bar.x + Math.cos(bar.angle) * along - (Math.sin(bar.angle) * bar.thickness) / 2,
        bar.y + Math.sin(bar.angle) * along + (Math.cos(bar.angle) * bar.thickness) / 2,
      ]
    }
    const { layout } = this.view
    const spot = layout.spots[layout.spotOf[this.view.trace.topology.links[link]?.from ?? -1] ?? -1]
    return spot ? [spot.x, spot.y] : [-100, -100]
  }
}

const MOST_EVENTS = 200

type Symbol = (context: CanvasRenderingContext2D, x: number, y: number, age: number, number: number) => void

/** Losses fall away from the queue, fanned out so that several are seen. */
const cross: Symbol = (context, x, y, age, number) => {
  const way = (((number * 7) % 11) - 5) * 0.14
  const [cx, cy] = [x + Math.cos(way) * age * 34, y + Math.sin(way) * age * 34 + age * age * 14]
  context.moveTo(cx - 4, cy - 4)
  context.lineTo(cx + 4, cy + 4)
  context.moveTo(cx + 4, cy - 4)
  context.lineTo(cx - 4, cy + 4)
}

const ring: Symbol = (context, x, y, age) => {
  context.arc(x, y, 3 + 6 * age, 0, 2 * Math.PI)
}

/** A clock's face around a host. */
const clock: Symbol = (context, x, y) => {
  context.arc(x, y, 9, 0, 2 * Math.PI)
  context.moveTo(x, y - 6)
  context.lineTo(x, y)
  context.lineTo(x + 4, y)
}

function barFor({ layout, trace }: View, port: Port): Bar {
  const link = trace.topology.links[port.link]
  const from = layout.spots[layout.spotOf[link?.from ?? 0] ?? 0]
  const [dx, dy] = [layout.dx[port.link] ?? 1, layout.dy[port.link] ?? 0]
  const length = Math.hypot(dx, dy)
  const angle = Math.atan2(dy, dx)
  const thickness = port.bottleneck ? 16 : 6
  // The bar stands on the side of its own direction, where its packets are.
  const start = SWITCH + 6
  const side = port.bottleneck ? 9 : 8
  return {
    port,
    x: (from?.x ?? 0) + Math.cos(angle) * start - Math.sin(angle) * side,
    y: (from?.y ?? 0) + Math.sin(angle) * start + Math.cos(angle) * side,
    angle,
    length: Math.max(Math.min(length - start - 34, port.bottleneck ? 260 : 60), 12),
    thickness,
  }
}

/** By row of crossings, which of the classes the packet is of. */
function kindsOf({ hops }: Trace): Uint8Array {
  const { crossings } = hops
  const classes = crossings.kinds.map((kind) => (kind === 'data' ? DATA : kind === 'ack' ? ACKNOWLEDGEMENT : CONTROL))
  return Uint8Array.from({ length: crossings.rows }, (_, row) => {
    const kind = classes[crossings.kind[row] ?? 0] ?? DATA
    // An acknowledgement of a retransmission bears its flag, too.
    if (crossings.retransmitted[row] && kind !== ACKNOWLEDGEMENT) return RETRANSMISSION
    return crossings.marked[row] ? MARKED : kind
  })
}
