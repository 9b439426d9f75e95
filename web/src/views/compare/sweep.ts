/** A sweep: one knob at several values, for several schemes and seeds, in as many workers as there are cores. */

import { cores, EnginePool } from '../../engine/client'
import { admit, admitSweep, estimate } from '../../engine/limits'
import { requestFor, tableOf, valuesOf } from '../../engine/simulate'
import type { Summary } from '../../engine/types'
import { turn, type Knob } from '../../scenario/knobs'
import { read } from '../../scenario/toml'
import { Store } from '../../ui/store'

export interface Plan {
  toml: string
  schemes: string[]
  knob: Knob
  /** Values of the knob, rising. */
  xs: number[]
  seeds: number
}

export interface Point {
  scheme: string
  x: number
  seed: number
  summary: Summary
  /** Completion times of the transfers that completed. */
  fcts: Float64Array
}

export interface Sweep {
  plan: Plan | undefined
  points: Point[]
  busy: boolean
  cancelled: boolean
  problem: Error | undefined
}

export const sweep = new Store<Sweep>({
  plan: undefined,
  points: [],
  busy: false,
  cancelled: false,
  problem: undefined,
})

/** Plots follow the sweep this often. */
const SHOW_MS = 250

let pool: EnginePool | undefined

export const runsOf = ({ schemes, xs, seeds }: Plan): number => schemes.length * xs.length * seeds

/** Begins a sweep. What ran before is forgotten. */
export async function start(plan: Plan): Promise<void> {
  cancel()
  const own = new EnginePool(cores())
  pool = own
  const points: Point[] = []
  const show = (part: Partial<Sweep>) => {
    if (pool === own) sweep.set({ ...sweep.get(), points: [...points], ...part })
  }
  show({ plan, busy: true, cancelled: false, problem: undefined })
  const timer = setInterval(() => {
    show({})
  }, SHOW_MS)
  try {
    await admitAll(own, plan)
    await Promise.all(casesOf(plan).map(async (each) => points.push(await runCase(own, plan, each))))
    show({ busy: false })
  } catch (error) {
    // A cancelled sweep has said so already.
    show({ busy: false, problem: error instanceof Error ? error : new Error(String(error)) })
  } finally {
    clearInterval(timer)
    own.dispose()
  }
}

/** Ends the sweep at once; what has been measured stays. */
export function cancel(): void {
  if (!pool) return
  const { busy } = sweep.get()
  pool.dispose()
  pool = undefined
  if (busy) sweep.set({ ...sweep.get(), busy: false, cancelled: true })
}

type Case = Pick<Point, 'scheme' | 'x' | 'seed'>

/** Seed by seed, so that all lines are there early. */
function casesOf({ schemes, xs, seeds }: Plan): Case[] {
  return Array.from({ length: seeds }, (_, index) => index + 1).flatMap((seed) =>
    xs.flatMap((x) => schemes.map((scheme) => ({ scheme, x, seed }))),
  )
}

/** Nothing runs if one of the values makes the scenario wrong or too large. */
async function admitAll(engine: EnginePool, { toml, knob, xs, schemes, seeds }: Plan): Promise<void> {
  const costs = await Promise.all(
    xs.map(async (x) => {
      const text = turn(toml, knob, x)
      const cost = estimate(await engine.check(requestFor(text, schemes[0] ?? '')), read(text))
      admit(cost)
      return cost
    }),
  )
  admitSweep(costs, schemes.length * seeds)
}

async function runCase(engine: EnginePool, { toml, knob }: Plan, { scheme, x, seed }: Case): Promise<Point> {
  const request = requestFor(turn(toml, knob, x), scheme, [['run.seed', String(seed)]])
  const { summary, tables, wallMs } = await engine.run(request)
  const fcts = valuesOf(tableOf({ summary, tables, wallMs }, 'flows'), 'fct_s').filter((value) => !Number.isNaN(value))
  return { scheme, x, seed, summary, fcts }
}
