/** What a step of the course is made of. */

import type { Facts } from './facts'

/** What a visitor has set, by control. */
export type Values = Record<string, string>

export interface Stop {
  /** As a scenario file has it. */
  value: string
  shown: string
}

export interface Control {
  key: string
  label: string
  kind: 'slider' | 'choice'
  stops: Stop[]
  start: string
}

/** One of the runs that are compared: a scheme, with the values that it has. */
export interface Contender {
  label: string
  scheme: string
  values: Values
}

export interface Step {
  /** In the address. */
  id: string
  title: string
  /** What happens, in plain words. Says nothing that depends on a run. */
  text: string[]
  /** What to do with the controls. */
  attempt: string
  controls: Control[]
  toml: (values: Values) => string
  contenders: (values: Values) => Contender[]
  picture: Picture
  /** What the client waits for. */
  waitsFor: { one: string; more: string }
  /** What came out of the runs: the only sentences that depend on them. */
  says: (facts: Facts[], values: Values) => string[]
  /** What came out when the paper's own sentences were checked. */
  found?: { paper: string; text: string }
}

/** Either a row for each answer, or the queue in front of the client. */
export type Picture = { kind: 'lanes' } | { kind: 'queue'; limits: (values: Values) => { label: string; y: number }[] }

export function startOf(step: Step): Values {
  return Object.fromEntries(step.controls.map(({ key, start }) => [key, start]))
}

/** What the address says, where it says something that a control can have. */
export function valuesIn(step: Step, params: URLSearchParams): Values {
  return Object.fromEntries(
    step.controls.map(({ key, stops, start }) => {
      const asked = params.get(key)
      return [key, stops.some(({ value }) => value === asked) ? (asked ?? start) : start]
    }),
  )
}

/** A value of a control that every step with it has. */
export function valueOf(values: Values, key: string): string {
  const value = values[key]
  if (value === undefined) throw new Error(`the step has no control "${key}"`)
  return value
}

export function numberOf(values: Values, key: string): number {
  return parseFloat(valueOf(values, key))
}
