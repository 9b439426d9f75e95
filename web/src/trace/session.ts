/** The current scenario with everything recorded that an animation needs. */

import { engine, registry } from '../engine/client'
import { Latest } from '../engine/latest'
import { admit, estimate } from '../engine/limits'
import { requestFor } from '../engine/simulate'
import type { Outcome, ResolvedValue, Topology } from '../engine/types'
import { read } from '../scenario/toml'
import { hopsOf, type Hops } from './hops'
import { timeoutsOf, type Timeouts } from './timeouts'

/** A run with crossings, as the engine or a folder of results has it. */
export interface Recorded {
  outcome: Outcome
  topology: Topology
  /** Values in effect, for limits and thresholds. */
  values?: ResolvedValue[]
}

/** A recorded run, and what is derived from it. */
export interface Trace extends Recorded {
  hops: Hops
  timeouts: Timeouts
}

export function traceOf(recorded: Recorded): Trace {
  const hops = hopsOf(recorded.outcome, recorded.topology)
  return { ...recorded, hops, timeouts: timeoutsOf(recorded.outcome, recorded.topology, hops) }
}

/** No more packets are recorded: beyond these a page needs too much memory. */
export const MOST_CROSSINGS = 1_000_000

/** Every change of a queue is recorded too: of longer runs it fills the engine's memory. */
const MOST_HOPS = 8_000_000

/** Probes have several rows per acknowledgement; in longer runs only so many flows have them. */
const ALL_PROBED_HOPS = 2_000_000
const SOME_FLOWS = 64

export interface Wanted {
  toml: string
  scheme: string
}

export const traces = new Latest<Wanted, Trace>(async ({ toml, scheme }, signal, progress) => {
  const known = await registry()
  const cost = estimate(await engine.check(requestFor(toml, scheme), signal), read(toml))
  admit(cost, MOST_HOPS, 'a recorded run has')
  const probes = known.sections.measure.find((param) => param.key === 'probes')?.words ?? []
  const overrides: [string, string][] = [
    ['measure.crossings', 'all'],
    ['measure.queues', 'all'],
    ['measure.queue-trace', 'on-change'],
    ['measure.capture-limit', String(MOST_CROSSINGS)],
    ['measure.probes', probes.join(',')],
    ['measure.probe-flows', String(cost.hops <= ALL_PROBED_HOPS ? MOST_CROSSINGS : SOME_FLOWS)],
  ]
  const request = requestFor(toml, scheme, overrides)
  const [outcome, topology, values] = await Promise.all([
    engine.run(request, { signal, progress }),
    engine.topology(request),
    engine.resolved(request),
  ])
  return traceOf({ outcome, topology, values })
})
