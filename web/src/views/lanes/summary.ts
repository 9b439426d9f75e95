/** What the lanes of a run say together. */

import { STATES, TIMEOUT, type Lane } from '../../trace/lanes'
import { digits, withUnit } from '../../ui/numbers'

export interface Totals {
  flows: number
  completed: number
  /** Flows that waited for a timer at least once. */
  waited: number
  /** Share of the time of all flows together that they spent in each state. */
  shares: number[]
}

export function totalsOf(lanes: Lane[]): Totals {
  const length = lanes.reduce((sum, { start, end }) => sum + end - start, 0)
  const shares = STATES.map((_, state) => {
    const spent = lanes.reduce((sum, lane) => sum + (lane.spent[state] ?? 0), 0)
    return length > 0 ? spent / length : 0
  })
  return {
    flows: lanes.length,
    completed: lanes.filter(({ completed }) => completed).length,
    waited: lanes.filter(({ timeouts }) => timeouts > 0).length,
    shares,
  }
}

/** Such as "64.8 %". */
export function percent(share: number): string {
  return withUnit(Number(share.toPrecision(3)), '%')
}

/** `known` timeouts of the run have a place in a lane, of `all` that were counted. */
export function inWords(lanes: Lane[], known: number, all: number): string {
  const { flows, completed, waited, shares } = totalsOf(lanes)
  if (flows === 0) return 'No flow has started.'
  const of = (count: number) => `${digits(count)} of ${digits(flows)} ${flows === 1 ? 'flow' : 'flows'}`
  const timeouts =
    waited === 0
      ? `No flow of ${digits(flows)} waited in a timeout.`
      : `${of(waited)} waited in a timeout. Of the time of all flows together, ${percent(shares[TIMEOUT] ?? 0)} was spent so.`
  const rest = [
    completed < flows
      ? `${of(flows - completed)} had not completed where the record ends; if they wait for a timer there, it counts as waiting.`
      : '',
    known < all
      ? `${digits(all - known)} of ${digits(all)} timeouts have no known time and are not drawn: their flows were not probed, or the record ends before.`
      : '',
  ]
  return [timeouts, ...rest].filter(Boolean).join(' ')
}

/** The lane that one looks at first: the one with the most timeouts, or else the last one to complete. */
export function mostTelling(lanes: Lane[]): Lane | undefined {
  return lanes.reduce<Lane | undefined>((best, lane) => {
    if (!best || lane.timeouts > best.timeouts) return lane
    return lane.timeouts === best.timeouts && lane.timeouts === 0 && lane.end > best.end ? lane : best
  }, undefined)
}

/** A lane in a line, for who cannot see it and for the heading of its charts. */
export function describe({ flow, source, start, end, completed, timeouts, spent }: Lane): string {
  const took = completed ? `took ${withUnit(end - start, 's')}` : `not complete after ${withUnit(end - start, 's')}`
  const expired = timeouts === 1 ? '1 timeout' : `${digits(timeouts)} timeouts`
  const waited = timeouts > 0 ? `, ${withUnit(spent[TIMEOUT] ?? 0, 's')} in them` : ''
  return `Flow ${flow} of ${source}, ${took}, ${expired}${waited}`
}
