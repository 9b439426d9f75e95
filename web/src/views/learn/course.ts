/** The course's runs in the page: small ones, each made once. */

import { engine } from '../../engine/client'
import { makeRun, type Run } from './runs'
import type { Contender, Step, Values } from './step'

export interface Shown {
  step: Step
  values: Values
  runs: Run[]
}

/** Records of more runs than these would fill the memory. */
const MOST = 60
const known = new Map<string, Promise<Run>>()

function runOf(step: Step, contender: Contender): Promise<Run> {
  const key = JSON.stringify([step.id, contender])
  const found = known.get(key)
  if (found) return found
  const begun = makeRun(step, contender, engine)
  known.set(key, begun)
  begun.catch(() => known.delete(key))
  const oldest = known.keys().next().value
  if (known.size > MOST && oldest !== undefined) known.delete(oldest)
  return begun
}

export async function show({ step, values }: Pick<Shown, 'step' | 'values'>): Promise<Shown> {
  return { step, values, runs: await Promise.all(step.contenders(values).map((each) => runOf(step, each))) }
}
