/** The numbers of a figure as a table, for whoever reads instead of looks. */

import { digits } from '../ui/numbers'
import type { Figure, FigureLine } from './papers'

/** Shares of a distribution; the program that writes the data keeps their points. */
const SHARES = [0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1]

export interface Rows {
  header: string[]
  rows: string[][]
}

/** Lines become columns; of a distribution the table has a few shares. */
export function rowsOf(figure: Figure): Rows {
  const { lines, whole } = figure
  if (whole !== undefined) {
    const rows = SHARES.map((share) => [
      `${digits(100 * share)} %`,
      ...lines.map((line) => quantile(line, share * whole)),
    ])
    return { header: ['Share', ...lines.map((line) => line.label || figure.x)], rows }
  }
  const places = [...new Set(lines.flatMap((line) => line.x.map(Number)))].sort((one, other) => one - other)
  const rows = places.map((place) => [digits(place), ...lines.map((line) => cell(line, place))])
  return { header: [figure.x, ...lines.map((line) => line.label || figure.y)], rows }
}

function quantile({ x, y }: FigureLine, share: number): string {
  // The largest share may have lost its last digit.
  const at = y.findIndex((value) => value >= share * (1 - 1e-9))
  return at < 0 ? '' : digits(Number(x[at]))
}

function cell(line: FigureLine, place: number): string {
  const at = line.x.map(Number).indexOf(place)
  const value = line.y[at]
  return value === undefined ? '' : digits(value) + intervalOf(line, at)
}

/** The ends of the interval of a point, if it has one. */
export function intervalOf(line: FigureLine, at: number): string {
  const low = line.low?.[at]
  const high = line.high?.[at]
  return low === undefined || high === undefined ? '' : ` (${digits(low)} to ${digits(high)})`
}
