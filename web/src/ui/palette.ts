/** Colours, markers and dashes of lines: those of the package's figures, so that a scheme looks the same everywhere. */

import palette from './palette.json'
import type { Theme } from './theme'

export type Marker = 'o' | 's' | '^' | 'v' | '<' | '>' | 'D' | 'd' | 'P' | 'X' | 'p' | 'h' | 'H' | '8' | '*'

export interface Style {
  colour: string
  marker: Marker
  /** Lengths of strokes and gaps; empty for a solid line. */
  dash: number[]
}

const SCHEMES: Record<string, string[]> = palette.schemes
const DASHES = [[], [8, 4], [2, 3], [10, 4, 2, 4], [5, 2]]
const PAGE: Record<Theme, string> = { light: '#ffffff', dark: '#14171a' }

/** The scheme that a line's name begins with, such as RCC of "RCC without scheduler". */
function schemeOf(name: string): string | undefined {
  const found = /^[a-z0-9]+(-[a-z0-9]+)*/.exec(name.toLowerCase())
  return found && found[0] in SCHEMES ? found[0] : undefined
}

/** The style of each line: a scheme's own; its variants differ from it in their dashes. */
export function styles(lines: string[], theme: Theme): Style[] {
  const variants = new Map<string, number>()
  return lines.map((name) => {
    const scheme = schemeOf(name)
    const index = variants.get(scheme ?? '') ?? 0
    variants.set(scheme ?? '', index + 1)
    const own = scheme === undefined ? undefined : SCHEMES[scheme]
    const colour = own?.[0] ?? palette.others[index % palette.others.length] ?? palette.alone
    const marker = own?.[1] ?? palette.markers[index % palette.markers.length] ?? 'o'
    const dash = (own ? DASHES[index % DASHES.length] : undefined) ?? []
    return { colour: legible(colour, theme), marker: marker as Marker, dash }
  })
}

/** The style of one scheme. */
export function styleOf(name: string, theme: Theme): Style {
  return styles([name], theme)[0] ?? { colour: palette.alone, marker: 'o', dash: [] }
}

/** The figures are drawn for white paper: on a dark page, dark colours are mixed with white until they stand out. */
function legible(colour: string, theme: Theme): string {
  if (theme === 'light') return colour.toLowerCase()
  const from = channels(colour)
  const page = luminance(channels(PAGE.dark))
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = from.map((value) => Math.round(value + (255 - value) * share))
    if ((luminance(mixed) + 0.05) / (page + 0.05) >= 4.5) return hex(mixed)
  }
  return '#ffffff'
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))
}

function hex(values: number[]): string {
  return '#' + values.map((value) => value.toString(16).padStart(2, '0')).join('')
}

/** Relative luminance, WCAG 2.2. */
function luminance(values: number[]): number {
  const [red = 0, green = 0, blue = 0] = values.map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
