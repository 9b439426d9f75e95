/** The course's runs, and what is drawn of them. */

import { requestFor } from '../../engine/simulate'
import type { Engine, Outcome, Topology } from '../../engine/types'
import { append } from '../../trace/grouped'
import { hopsOf } from '../../trace/hops'
import { lanesOf, type Lane } from '../../trace/lanes'
import { timeoutsOf } from '../../trace/timeouts'
import { factsOf, type Facts } from './facts'
import type { Contender, Picture, Step } from './step'

/** A run, as far as the course shows it. */
export interface Run extends Contender {
  facts: Facts
  outcome: Outcome
  topology: Topology
}

/** What a picture needs to have recorded. */
const RECORDED: Record<Picture['kind'], [string, string][]> = {
  lanes: [
    ['measure.crossings', 'all'],
    ['measure.queues', 'all'],
    ['measure.capture-limit', '1000000'],
    ['measure.probes', 'rto'],
    ['measure.probe-flows', '1000'],
  ],
  queue: [['measure.queue-trace', 'on-change']],
}
const BINS: [string, string] = ['measure.bin', '100us']

export type Runner = Pick<Engine, 'run' | 'topology'>

export async function makeRun(step: Step, contender: Contender, runner: Runner): Promise<Run> {
  const { scheme, label, values } = contender
  const request = requestFor(step.toml(values), scheme, [...RECORDED[step.picture.kind], BINS])
  const [outcome, topology] = await Promise.all([runner.run(request), runner.topology(request)])
  return { ...contender, facts: factsOf(label, outcome), outcome, topology }
}

export interface Row extends Lane {
  /** When its packets left it, to within the time on the first link. */
  sent: number[]
  /** When its packets were lost. */
  lost: number[]
}

/** By connection, the times of rows that have one. */
function timesOf(connections: Float64Array, time: (row: number) => number | undefined): Map<number, number[]> {
  const found = new Map<number, number[]>()
  connections.forEach((connection, row) => {
    const at = time(row)
    if (at !== undefined) append(found, connection, at)
  })
  return found
}

/** The rows of a run: the first to end at the top, long flows at the bottom. */
export function rowsOf({ outcome, topology }: Run): Row[] {
  const hops = hopsOf(outcome, topology)
  const { crossings, drops } = hops
  const lost = timesOf(drops.connection, (row) => drops.time[row] ?? 0)
  const data = crossings.kinds.indexOf('data')
  const sent = timesOf(crossings.connection, (row) => {
    const from = topology.links[crossings.link[row] ?? 0]?.from ?? -1
    const leaves = crossings.kind[row] === data && topology.nodes[from]?.kind === 'host'
    return leaves ? (crossings.time[row] ?? 0) : undefined
  })
  const lanes = lanesOf({ outcome, topology, hops, timeouts: timeoutsOf(outcome, topology, hops) })
  const last = ({ completed, end }: Lane) => (completed ? end : Infinity)
  lanes.sort((one, other) => (last(one) === last(other) ? one.flow - other.flow : last(one) - last(other)))
  return lanes.map((lane) => ({
    ...lane,
    sent: sent.get(lane.connection) ?? [],
    lost: lost.get(lane.connection) ?? [],
  }))
}
