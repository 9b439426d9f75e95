/** The sweep's points as lines. */

import type { Line } from '../../ui/chart'
import { styleOf } from '../../ui/palette'
import { distribution, meanInterval } from '../../ui/stats'
import type { Theme } from '../../ui/theme'
import type { Cell } from '../../ui/download'
import type { Plan, Point } from './sweep'

export type Measure = (point: Point) => number

/** A total of the whole run. */
export function totalOf(name: string): Measure {
  return ({ summary }) => numberOf(summary[name])
}

/** A total of one traffic group. */
export function groupTotalOf(group: string, name: string): Measure {
  return ({ summary }) => {
    const groups = Array.isArray(summary.groups) ? summary.groups : []
    return numberOf(groups.find((each) => each.group === group)?.[name])
  }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : NaN
}

/** Means over seeds with their intervals, a line per scheme. */
export function meanLines(plan: Plan, points: Point[], measure: Measure, theme: Theme): Line[] {
  return plan.schemes.map((scheme) => {
    const own = points.filter((point) => point.scheme === scheme)
    const at = plan.xs
      .map((x) => ({ x, ...meanInterval(own.filter((point) => point.x === x).map(measure)) }))
      .filter(({ mean }) => !Number.isNaN(mean))
    return {
      label: scheme,
      style: styleOf(scheme, theme),
      points: true,
      x: at.map(({ x }) => x),
      y: at.map(({ mean }) => mean),
      band: { low: at.map(({ mean, half }) => mean - half), high: at.map(({ mean, half }) => mean + half) },
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
