/** The course's runs: small ones, each made once. */

import { engine } from '../../engine/client'
import { labelsOf, requestFor, tableOf, valuesOf } from '../../engine/simulate'
import type { GroupTotals, Outcome } from '../../engine/types'

export interface Job {
  toml: string
  scheme: string
  /** Whether packets and the queue are drawn, and not only totals shown. */
  recorded: boolean
}

/** Records of more runs than these would fill the memory. */
const MOST = 60
const known = new Map<string, Promise<Outcome>>()

const RECORDED: [string, string][] = [
  ['measure.crossings', 'all'],
  ['measure.queue-trace', 'on-change'],
]

export function outcomeOf({ toml, scheme, recorded }: Job): Promise<Outcome> {
  const key = `${scheme} ${recorded} ${toml}`
  const found = known.get(key)
  if (found) return found
  const begun = engine.run(requestFor(toml, scheme, recorded ? RECORDED : []))
  known.set(key, begun)
  begun.catch(() => known.delete(key))
  const oldest = known.keys().next().value
  if (known.size > MOST && oldest !== undefined) known.delete(oldest)
  return begun
}

/** What became of the query. */
export interface Query {
  senders: number
  /** Answers that were complete when the run ended. */
  complete: number
  /** From the first start to the last completion, in seconds; none without complete answers. */
  seconds: number | undefined
  /** Answers that waited for a retransmission timer at least once. */
  waited: number
  drops: number
  goodputBps: number
  /** Goodput of the long flows; none without them. */
  backgroundBps: number | undefined
  longestQueue: number
}

export function queryOf(outcome: Outcome): Query {
  const flows = tableOf(outcome, 'flows')
  const own = labelsOf(flows, 'group').map((group) => group === 'servers')
  const column = (name: string) => Array.from(valuesOf(flows, name)).filter((_, index) => own[index])
  const ends = column('completion_s').filter(Number.isFinite)
  const starts = column('start_s')
  const groups = (Array.isArray(outcome.summary.groups) ? outcome.summary.groups : []) as GroupTotals[]
  const of = (name: string) => groups.find((group) => group.group === name)
  const background = of('background')
  const servers = of('servers') ?? outcome.summary
  return {
    senders: starts.length,
    complete: ends.length,
    seconds: ends.length > 0 ? Math.max(...ends) - Math.min(...starts) : undefined,
    waited: column('timeouts').filter((count) => count > 0).length,
    drops: Number(servers.drops),
    goodputBps: Number(background ? servers.goodput_bps : outcome.summary.goodput_finite_bps),
    backgroundBps: background && Number(background.goodput_bps),
    longestQueue: Number(outcome.summary.queue_max_packets),
  }
}

/** What the lanes draw: a row per answer, the first to end at the top. */
export interface Lane {
  /** When packets of data crossed the last link, in seconds. */
  arrived: number[]
  /** Those of them that had been sent before. */
  again: number[]
  lost: number[]
}

export function lanesOf(outcome: Outcome): { lanes: Lane[]; from: number; to: number } {
  const flows = tableOf(outcome, 'flows')
  const ends = valuesOf(flows, 'completion_s')
  const starts = valuesOf(flows, 'start_s')
  const connections = valuesOf(flows, 'connection')
  const mine = labelsOf(flows, 'group').flatMap((group, index) => (group === 'servers' ? [index] : []))
  const end = (index: number) => (Number.isFinite(ends[index]) ? (ends[index] ?? 0) : Infinity)
  mine.sort((one, other) => end(one) - end(other))
  const lanes = new Map(mine.map((index) => [connections[index], { arrived: [], again: [], lost: [] } as Lane]))
  const crossings = tableOf(outcome, 'crossings')
  const links = labelsOf(crossings, 'link')
  const kinds = labelsOf(crossings, 'kind')
  const again = valuesOf(crossings, 'retransmitted')
  const at = valuesOf(crossings, 'time_s')
  valuesOf(crossings, 'connection').forEach((connection, index) => {
    if (links[index] !== outcome.summary.bottleneck || kinds[index] !== 'data') return
    const lane = lanes.get(connection)
    if (again[index]) lane?.again.push(at[index] ?? 0)
    else lane?.arrived.push(at[index] ?? 0)
  })
  const drops = tableOf(outcome, 'drops')
  const lost = valuesOf(drops, 'time_s')
  valuesOf(drops, 'connection').forEach((connection, index) => lanes.get(connection)?.lost.push(lost[index] ?? 0))
  const last = Math.max(...mine.map(end))
  const to = Number.isFinite(last) ? last : Number(outcome.summary.simulated_s)
  return { lanes: [...lanes.values()], from: Math.min(...mine.map((index) => starts[index] ?? 0)), to }
}
