/** What became of a run, in the numbers that the course speaks of. */

import { labelsOf, tableOf, valuesOf } from '../../engine/simulate'
import type { GroupTotals, Outcome } from '../../engine/types'
import { LONG } from './scenarios'

export interface Facts {
  label: string
  /** Answers, or files: all transfers that end. */
  answers: number
  /** Those that were complete when the run ended. */
  complete: number
  /** When the first one started, in seconds. */
  from: number
  /** From the first start to the last completion; none if the run ended before it. */
  seconds: number | undefined
  /** From the first start to the end of the run. */
  watched: number
  /** Answers that waited for a retransmission timer at least once. */
  waited: number
  lost: number
  /** Packets that were sent again. */
  again: number
  /** The longest queue in front of the client, in packets. */
  queue: number
  /** Bits of payload of all answers. */
  bits: number
  /** Goodput of the long flows from the first start to the last completion; none without long flows. */
  longBps: number | undefined
}

export function factsOf(label: string, outcome: Outcome): Facts {
  const flows = tableOf(outcome, 'flows')
  const own = labelsOf(flows, 'group').map((group) => group !== LONG)
  const column = (name: string) => Array.from(valuesOf(flows, name)).filter((_, row) => own[row])
  const ends = column('completion_s')
  const complete = ends.filter(Number.isFinite).length
  const from = Math.min(...column('start_s'))
  const to = complete === ends.length ? Math.max(...ends) : undefined
  const end = Number(outcome.summary.simulated_s)
  const groups = outcome.summary.groups as GroupTotals[]
  const total = (name: string) =>
    groups.filter(({ group }) => group !== LONG).reduce((sum, group) => sum + Number(group[name]), 0)
  return {
    label,
    answers: ends.length,
    complete,
    from,
    seconds: to === undefined ? undefined : to - from,
    watched: end - from,
    waited: column('timeouts').filter((count) => count > 0).length,
    lost: total('drops'),
    again: total('retransmissions'),
    queue: Number(outcome.summary.queue_max_packets),
    bits: 8 * column('bytes').reduce((sum, bytes) => sum + bytes, 0),
    longBps: groups.some(({ group }) => group === LONG) ? longBetween(outcome, from, to ?? end) : undefined,
  }
}

/** Mean goodput of the long flows between two times, from the bins that begin in between. */
function longBetween(outcome: Outcome, from: number, to: number): number {
  const bins = tableOf(outcome, 'bins')
  const groups = labelsOf(bins, 'group')
  const times = valuesOf(bins, 'time_s')
  const rates = Array.from(valuesOf(bins, 'goodput_bps')).filter((_, row) => {
    const time = times[row] ?? 0
    return groups[row] === LONG && time >= from && time < to
  })
  return rates.length > 0 ? rates.reduce((sum, rate) => sum + rate, 0) / rates.length : 0
}
