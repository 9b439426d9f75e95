/** The canvases of a run, and what is painted on them at a time. */

import { tableOf, valuesOf } from '../../engine/simulate'
import type { Trace } from '../../trace/session'
import type { Theme } from '../../ui/theme'
import type { Clock } from './clock'
import { layoutOf } from './layout'
import { portsOf, thresholdsOf, type Port, type Threshold } from './ports'
import { drawNetwork, inkOf, Scene, type Counts, type Ink, type View } from './scene'
import { spritesOf } from './sprites'
import { drawStrip, stripOf, type StripData } from './strip'

const RADIUS = 4.2
/** The lower strip shows so many seconds of the one who watches. */
const NEAR_SECONDS = 8

export interface Canvases {
  network: HTMLCanvasElement
  packets: HTMLCanvasElement
  whole: HTMLCanvasElement
  near: HTMLCanvasElement
}

/** What stays the same while a run is watched. */
export interface Watched {
  trace: Trace
  ports: Port[]
  thresholds: Threshold[]
  strip: StripData
  receivers: ReadonlySet<number>
}

export function watchedOf(trace: Trace): Watched {
  const flows = tableOf(trace.outcome, 'flows')
  const sources = new Set(valuesOf(flows, 'src'))
  const receivers = new Set([...valuesOf(flows, 'dst')].filter((host) => !sources.has(host)))
  const ports = portsOf(trace)
  const bottleneck = ports.find((port) => port.bottleneck)
  const thresholds = thresholdsOf(trace.values)
  return { trace, ports, thresholds, strip: stripOf(trace, bottleneck, thresholds), receivers }
}

/** Gives a canvas as many pixels as the device has there. */
function fit(canvas: HTMLCanvasElement, scale: number): CanvasRenderingContext2D | null {
  canvas.width = Math.max(Math.round(canvas.clientWidth * scale), 1)
  canvas.height = Math.max(Math.round(canvas.clientHeight * scale), 1)
  return canvas.getContext('2d')
}

export class Stage {
  private readonly scene: Scene | undefined
  private readonly whole: CanvasRenderingContext2D | null
  private readonly near: CanvasRenderingContext2D | null
  private readonly ink: Ink
  private readonly scale = Math.min(devicePixelRatio, 2)
  private readonly strip: StripData

  constructor(canvases: Canvases, watched: Watched, theme: Theme, byFlow: boolean) {
    const { scale } = this
    const { trace, ports, thresholds, receivers } = watched
    this.strip = watched.strip
    this.ink = inkOf(canvases.network)
    const [width, height] = [canvases.packets.clientWidth, canvases.packets.clientHeight]
    const view: View = {
      trace,
      ports,
      thresholds,
      theme,
      width,
      height,
      scale,
      ink: this.ink,
      layout: layoutOf(trace.topology, receivers, { width, height }),
      sprites: spritesOf(theme, byFlow, RADIUS * scale),
    }
    const network = fit(canvases.network, scale)
    const packets = fit(canvases.packets, scale)
    this.whole = fit(canvases.whole, scale)
    this.near = fit(canvases.near, scale)
    if (network) drawNetwork(network, view)
    if (packets) this.scene = new Scene(packets, view)
  }

  paint(clock: Clock): Counts {
    const { ink, scale, strip } = this
    const { time, speed, until } = clock
    if (this.whole) drawStrip(this.whole, strip, { from: 0, to: until || 1 }, time, ink, scale)
    const half = (NEAR_SECONDS / 2) * speed
    if (this.near) drawStrip(this.near, strip, { from: time - half, to: time + half }, time, ink, scale)
    return this.scene?.draw(time, speed) ?? { onLinks: 0, waiting: 0 }
  }
}
