/** Sentences about runs. Each is put together from what the runs gave. */

import { digits, withUnit } from '../../ui/numbers'
import type { Facts } from './facts'

/** Differences below this are not worth a word. */
const ALIKE = 0.02

export function count(number: number, one: string, more: string): string {
  return `${digits(number)} ${number === 1 ? one : more}`
}

export function share(value: number): string {
  return withUnit(Math.round(value * 100) / 100, '%')
}

/** Two digits are as many as a reader compares. */
export function rounded(value: number): string {
  return digits(Number(value.toPrecision(2)))
}

/** When all was there, or how much was missing at the end of the run. */
export function when({ seconds, complete, answers, watched }: Facts): string {
  if (seconds !== undefined) return withUnit(seconds, 's')
  return `${complete} of ${answers} after ${withUnit(watched, 's')}`
}

/** How long one run takes beside another. */
export function compared(one: Facts, other: Facts, more: string): string {
  const missing = [one, other].filter(({ seconds }) => seconds === undefined)
  if (missing.length > 0) {
    return missing
      .map(({ label, complete, answers, watched }) => {
        const left = answers - complete
        const verb = left === 1 ? 'is' : 'are'
        return `With ${label}, ${digits(left)} of ${answers} ${more} ${verb} still missing after ${withUnit(watched, 's')}.`
      })
      .join(' ')
  }
  const ratio = (one.seconds ?? 0) / (other.seconds ?? 1)
  if (Math.abs(ratio - 1) < ALIKE)
    return `${one.label} takes about as long as ${other.label}: ${withUnit(one.seconds, 's')}.`
  if (ratio < 1) return `${one.label} takes ${share(1 - ratio)} less time than ${other.label}.`
  if (ratio < 2) return `${one.label} takes ${share(ratio - 1)} more time than ${other.label}.`
  return `${one.label} takes ${rounded(ratio)} times as long as ${other.label}.`
}

/** What was lost, and who had to wait for a timer. */
export function losses({ label, lost, waited, answers }: Facts, one: string, more: string): string {
  const packets = lost === 0 ? 'loses nothing' : `loses ${count(lost, 'packet', 'packets')}`
  if (waited === 0) return `${label} ${packets}, and no ${one} waits for a timer.`
  return `${label} ${packets}, and ${digits(waited)} of ${answers} ${more} ${waited === 1 ? 'waits' : 'wait'} for a timer.`
}

/** What the long flows have meanwhile. */
export function meanwhile(one: Facts, other: Facts): string {
  const rate = ({ longBps = 0 }: Facts) => withUnit(Number(longBps.toPrecision(2)), 'bit/s')
  return `Meanwhile long flows have ${rate(one)} with ${one.label}, and ${rate(other)} with ${other.label}.`
}
