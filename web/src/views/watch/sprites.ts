/** Packets as small pictures: the shape says what a packet is, and the colour that or its flow. */

import { addMarker } from '../../ui/markers'
import { styles, type Style } from '../../ui/palette'
import type { Theme } from '../../ui/theme'

export const CLASSES = ['Retransmission', 'Data', 'Acknowledgement', 'Marked', 'Set-up and end'] as const

export const RETRANSMISSION = 0
export const DATA = 1
export const ACKNOWLEDGEMENT = 2
export const MARKED = 3
export const CONTROL = 4

const FLOW_COLOURS = 7

/** Colour and shape of each class. */
export function classStyles(theme: Theme): Style[] {
  return styles([...CLASSES], theme)
}

export interface Sprites {
  size: number
  /** Pixels, row by row, as in ImageData. */
  pixels: Uint32Array[]
  colours: string[]
  /** The picture of a packet of some class and flow. */
  index: (kind: number, connection: number) => number
}

/** Pictures in device pixels. */
export function spritesOf(theme: Theme, byFlow: boolean, radius: number): Sprites {
  const classes = classStyles(theme)
  const flows = styles(
    Array.from({ length: FLOW_COLOURS }, (_, index) => `Flow ${index}`),
    theme,
  )
  const size = Math.ceil(2 * radius + 2)
  const colours: string[] = []
  const pixels: Uint32Array[] = []
  for (const { marker, colour } of classes) {
    for (const shade of byFlow ? flows.map((flow) => flow.colour) : [colour]) {
      colours.push(shade)
      pixels.push(drawn(marker, shade, radius, size))
    }
  }
  const each = byFlow ? FLOW_COLOURS : 1
  return { size, pixels, colours, index: (kind, connection) => kind * each + (connection % each) }
}

function drawn(marker: Style['marker'], colour: string, radius: number, size: number): Uint32Array {
  const canvas = new OffscreenCanvas(size, size)
  const context = canvas.getContext('2d')
  if (!context) return new Uint32Array(size * size)
  const path = new Path2D()
  addMarker(path, marker, size / 2, size / 2, radius)
  context.fillStyle = colour
  context.fill(path)
  return new Uint32Array(context.getImageData(0, 0, size, size).data.buffer)
}

/** Copies a picture around a point; where pictures overlap, the more opaque pixel stays. */
export function stamp(
  target: Uint32Array,
  width: number,
  height: number,
  sprite: Uint32Array,
  size: number,
  x: number,
  y: number,
): void {
  const left = Math.round(x - size / 2)
  const top = Math.round(y - size / 2)
  if (left < 0 || top < 0 || left + size > width || top + size > height) return
  for (let row = 0; row < size; row++) {
    let to = (top + row) * width + left
    for (let from = row * size; from < (row + 1) * size; from++, to++) {
      const pixel = sprite[from] ?? 0
      // The highest byte is the opacity.
      if (pixel >>> 24 >= (target[to] ?? 0) >>> 24 && pixel !== 0) target[to] = pixel
    }
  }
}
