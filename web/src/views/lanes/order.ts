/** In which order the lanes are. */

import { TIMEOUT, type Lane } from '../../trace/lanes'

export const ORDERS = {
  completion: 'completion',
  number: 'number',
  timeouts: 'timeouts',
  waited: 'time in timeouts',
} as const

export type Order = keyof typeof ORDERS

export function isOrder(text: string | null): text is Order {
  return text !== null && text in ORDERS
}

/** What has not completed comes after all that has. */
function completion({ completed, end }: Lane): number {
  return completed ? end : Infinity
}

const KEYS: Record<Order, (lane: Lane) => number> = {
  completion,
  number: ({ flow }) => flow,
  timeouts: ({ timeouts }) => -timeouts,
  waited: ({ spent }) => -(spent[TIMEOUT] ?? 0),
}

/** The first lane is at the top; equal ones are in the order of their numbers. */
export function ordered(lanes: Lane[], order: Order): Lane[] {
  const key = KEYS[order]
  return [...lanes].sort((one, other) => {
    const [a, b] = [key(one), key(other)]
    return a === b ? one.flow - other.flow : a - b
  })
}
