/** One scenario with several schemes, side by side on the same seed. */

import { read, valueAt, type Document } from '../scenario/toml'
import { admit, estimate } from './limits'
import type { Engine, Outcome, ScenarioRequest, Table } from './types'

export const FILE = 'scenario.toml'

export interface Request {
  toml: string
  /** None for the scheme that the scenario says. */
  schemes: string[]
}

export interface Run {
  scheme: string
  outcome: Outcome
}

export interface Batch {
  request: Request
  runs: Run[]
}

/** The schemes that run: those chosen, or the scenario's own. */
export function schemesOf({ toml, schemes }: Request): string[] {
  return schemes.length > 0 ? schemes : [String(valueAt(read(toml), ['transport', 'scheme']) ?? 'newreno')]
}

/** The command that runs the same in a terminal. */
export function commandOf(scheme: string): string {
  return `fanin run ${FILE} --set transport.scheme=${scheme}`
}

export function requestFor(toml: string, scheme: string, overrides: [string, string][] = []): ScenarioRequest {
  return { toml, name: FILE, overrides: [['transport.scheme', scheme], ...overrides] }
}

/** A record of every change of the queue is half a gigabyte then: of runs that may be longer, the queue is sampled. */
const MAX_TRACED_HOPS = 40_000_000
const BINS = 150

/** What the plots need, unless the scenario says itself what to record. `seconds` is how long the run took in simulated time. */
export function recording(document: Document, hops: number, seconds: number): [string, string][] {
  const wanted: [string, string][] = [
    ['bin', `${Math.max(Math.round((seconds / BINS) * 1e6), 1)}us`],
    ...(hops <= MAX_TRACED_HOPS
      ? ([['queue-trace', 'on-change']] satisfies [string, string][])
      : ([
          ['queue-trace', 'sampled'],
          ['queue-sample', `${Math.max(Math.round((seconds / 5000) * 1e6), 1)}us`],
        ] satisfies [string, string][])),
  ]
  return wanted
    .filter(([key]) => valueAt(document, ['measure', key]) === undefined)
    .map(([key, value]) => [`measure.${key}`, value])
}

/** Bins are made for a run of this length, as long as none is known. */
export const FIRST_SECONDS = 1

export interface Hooks {
  signal: AbortSignal
  progress: (share: number) => void
}

/** Runs all schemes; a scenario that is too large is refused before anything runs. `seconds` is the length to expect. */
export async function simulate(engine: Engine, request: Request, hooks: Hooks, seconds: number): Promise<Batch> {
  const schemes = schemesOf(request)
  const document = read(request.toml)
  const preview = await engine.check(requestFor(request.toml, schemes[0] ?? ''), hooks.signal)
  const cost = estimate(preview, document)
  admit(cost)
  const overrides = recording(document, cost.mostHops, seconds)
  const shares = schemes.map(() => 0)
  const failed = new AbortController()
  const signal = AbortSignal.any([hooks.signal, failed.signal])
  const run = async (scheme: string, index: number): Promise<Run> => {
    const progress = (share: number) => {
      shares[index] = share
      hooks.progress(shares.reduce((sum, each) => sum + each, 0) / shares.length)
    }
    const outcome = await engine.run(requestFor(request.toml, scheme, overrides), {
      signal,
      progress,
    })
    return { scheme, outcome }
  }
  try {
    return { request, runs: await Promise.all(schemes.map(run)) }
  } catch (error) {
    // The others would run for nothing.
    failed.abort()
    throw error
  }
}

/** The longest of the runs, in simulated time. */
export function secondsOf({ runs }: Batch): number {
  return Math.max(...runs.map((run) => Number(run.outcome.summary.simulated_s)), 1e-4)
}

export function tableOf(outcome: Outcome, name: string): Table | undefined {
  return outcome.tables.find((table) => table.name === name)
}

/** The numbers of a column; none if the table has no such column. */
export function valuesOf(table: Table | undefined, column: string): Float64Array {
  return table?.columns.find((each) => each.name === column)?.values ?? new Float64Array()
}

/** The words of a column of labels. */
export function labelsOf(table: Table | undefined, column: string): string[] {
  const found = table?.columns.find((each) => each.name === column)
  return found ? Array.from(found.values, (index) => found.names[index] ?? '') : []
}
