/** The cross-paper ranking, as `python/fanin/show/ranking_matrix.py` makes it. */

import { loadData } from './load'

/** System, rank (0 if undecided), share of the best goodput in per cent, the measures as texts, and what was left. */
export type Place = [string, number, number | null, ...string[]]

export interface Regime {
  /** Axis and value, such as senders and 20. */
  where: Record<string, string>
  places: Place[]
}

export interface RankedExperiment {
  title: string
  command: string
  regimes: Regime[]
}

export interface Ranking {
  /** Names of the measures, with their units. */
  columns: string[]
  experiments: RankedExperiment[]
}

export function ranking(): Promise<Ranking> {
  return loadData('ranking.json') as Promise<Ranking>
}

/** The values of an axis, in their order. */
export function valuesOf(regimes: Regime[], axis: string): string[] {
  return [...new Set(regimes.map((regime) => regime.where[axis] ?? ''))].filter(Boolean)
}

export function placeOf(regime: Regime, system: string): Place | undefined {
  return regime.places.find((place) => place[0] === system)
}

/** The systems of these regimes, those with the largest mean share first. */
export function systemsOf(regimes: Regime[]): string[] {
  const names = [...new Set(regimes.flatMap((regime) => regime.places.map((place) => place[0])))]
  const mean = (system: string) => {
    const shares = regimes.map((regime) => placeOf(regime, system)?.[2] ?? 0)
    return shares.reduce((sum, share) => sum + share, 0) / Math.max(shares.length, 1)
  }
  const means = new Map(names.map((name) => [name, mean(name)]))
  return names.sort((one, other) => (means.get(other) ?? 0) - (means.get(one) ?? 0))
}

/** What a regime is called in a column: all but what is chosen for the whole map. */
export function nameOf(regime: Regime, without: string[]): string {
  return Object.entries(regime.where)
    .filter(([axis]) => !without.includes(axis))
    .map(([axis, value]) => `${axis} ${value}`)
    .join(', ')
}

/** Where a key leads from a cell. */
export function step(
  key: string,
  row: number,
  column: number,
  rows: number,
  columns: number,
): [number, number] | undefined {
  const to: Record<string, [number, number]> = {
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    Home: [row, 0],
    End: [row, columns - 1],
    PageUp: [0, column],
    PageDown: [rows - 1, column],
  }
  const next = to[key]
  if (!next) return undefined
  return [Math.min(Math.max(next[0], 0), rows - 1), Math.min(Math.max(next[1], 0), columns - 1)]
}
