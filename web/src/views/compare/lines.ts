/** The sweep's points as lines. */

import type { Line } from '../../ui/chart'
import { styleOf } from '../../ui/palette'
import { distribution, spread } from '../../ui/stats'
import type { Theme } from '../../ui/theme'
import type { Cell } from '../../ui/download'
import type { Plan, Point } from './sweep'

/** A number of a run, and what it cannot be above. */
export interface Measure {
  value: (point: Point) => number
  most: (point: Point) => number
}

/** No goodput of a run is above what its links carry. */
function mostOf(name: string): Measure['most'] {
  return ({ summary }) =>
    (name === 'goodput_bps' ? (summary.capacity_bps as number | null | undefined) : null) ?? Infinity
}

/** A total of the whole run. */
export function totalOf(name: string): Measure {
  return { value: ({ summary }) => numberOf(summary[name]), most: mostOf(name) }
}

/** A total of one traffic group. */
export function groupTotalOf(group: string, name: string): Measure {
  const value = ({ summary }: Point) => {
    const groups = Array.isArray(summary.groups) ? summary.groups : []
    return numberOf(groups.find((each) => each.group === group)?.[name])
  }
  return { value, most: mostOf(name) }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : NaN
}

/** Means over seeds with their intervals, or quantiles where an interval cannot be, a line per scheme. */
export function meanLines(plan: Plan, points: Point[], measure: Measure, theme: Theme): Line[] {
  return plan.schemes.map((scheme) => {
    const own = points.filter((point) => point.scheme === scheme)
    const at = plan.xs
      .map((x) => ({ x, seeds: own.filter((point) => point.x === x) }))
      .map(({ x, seeds }) => ({ x, ...spread(seeds.map(measure.value), Math.max(...seeds.map(measure.most))) }))
      .filter(({ mean }) => !Number.isNaN(mean))
    return {
      label: scheme,
      style: styleOf(scheme, theme),
      points: true,
      x: at.map(({ x }) => x),
      y: at.map(({ mean }) => mean),
      band: { low: at.map(({ low }) => low), high: at.map(({ high }) => high) },
    }
  })
}

/** Distributions of completion times at one x, all seeds together. */
export function fctLines(plan: Plan, points: Point[], x: number, theme: Theme): Line[] {
  return plan.schemes.map((scheme) => {
    const own = points.filter((point) => point.scheme === scheme && point.x === x)
    return {
      label: scheme,
      style: styleOf(scheme, theme),
      step: true,
      ...distribution(own.flatMap((point) => Array.from(point.fcts))),
    }
  })
}

/** Where the largest value is so many times the smallest, a linear axis would hide the small ones. */
const WIDE = 50

/** Whether values are best told apart on a logarithmic axis. */
export function isWide(values: number[]): boolean {
  const finite = values.filter(Number.isFinite)
  const least = Math.min(...finite)
  return finite.length > 0 && least > 0 && Math.max(...finite) >= WIDE * least
}

/** A row per run: what was varied, and every total that is a number. */
export function rowsOf(plan: Plan, points: Point[]): { header: string[]; rows: Cell[][] } {
  const totals = Object.keys(points[0]?.summary ?? {}).filter((name) =>
    points.every(({ summary }) => summary[name] === null || typeof summary[name] !== 'object'),
  )
  const rows = points.map((point) => [
    point.scheme,
    point.x,
    point.seed,
    ...totals.map((name) => (point.summary[name] ?? null) as Cell),
  ])
  return { header: ['transport.scheme', plan.knob.name, 'seed', ...totals], rows }
}
