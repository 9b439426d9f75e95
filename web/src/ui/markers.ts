/** The figures' markers as paths on a canvas. */

import type { Marker } from './palette'

/** Corners of a regular polygon, the first one in a direction given in turns from the right, clockwise. */
function polygon(corners: number, turn: number, inner = 1): [number, number][] {
  const count = inner === 1 ? corners : 2 * corners
  return Array.from({ length: count }, (_, index) => {
    const angle = 2 * Math.PI * (turn + index / count)
    const radius = index % 2 === 1 ? inner : 1
    return [radius * Math.cos(angle), radius * Math.sin(angle)]
  })
}

const PLUS: [number, number][] = [
  [-0.35, -1],
  [0.35, -1],
  [0.35, -0.35],
  [1, -0.35],
  [1, 0.35],
  [0.35, 0.35],
  [0.35, 1],
  [-0.35, 1],
  [-0.35, 0.35],
  [-1, 0.35],
  [-1, -0.35],
  [-0.35, -0.35],
]

const TURNED = PLUS.map(([x, y]): [number, number] => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2])

const SHAPES: Record<Exclude<Marker, 'o'>, [number, number][]> = {
  s: polygon(4, 1 / 8),
  '^': polygon(3, -1 / 4),
  v: polygon(3, 1 / 4),
  '<': polygon(3, 1 / 2),
  '>': polygon(3, 0),
  D: polygon(4, 0),
  d: polygon(4, 0).map(([x, y]) => [0.6 * x, y]),
  P: PLUS,
  X: TURNED,
  p: polygon(5, -1 / 4),
  h: polygon(6, -1 / 4),
  H: polygon(6, 0),
  8: polygon(8, 1 / 16),
  '*': polygon(5, -1 / 4, 0.4),
}

/** Adds a marker around a point to a path. */
export function addMarker(path: Path2D, marker: Marker, x: number, y: number, radius: number): void {
  if (marker === 'o') {
    path.moveTo(x + radius, y)
    path.arc(x, y, radius, 0, 2 * Math.PI)
    return
  }
  SHAPES[marker].forEach(([dx, dy], index) => {
    if (index === 0) path.moveTo(x + radius * dx, y + radius * dy)
    else path.lineTo(x + radius * dx, y + radius * dy)
  })
  path.closePath()
}

/** A marker as the `points` of an SVG polygon around 0; a circle has none. */
export function cornersOf(marker: Marker): [number, number][] | undefined {
  return marker === 'o' ? undefined : SHAPES[marker]
}
