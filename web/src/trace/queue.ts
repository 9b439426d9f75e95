/** The recorded backlog of a port. */

import { labelsOf, tableOf, valuesOf } from '../engine/simulate'
import type { Outcome } from '../engine/types'
import type { Points } from '../ui/chartdata'

/** Of one port, or, if it has no trace or none is named, of the first that has one. */
export function queueOf(outcome: Outcome, port?: string): Points {
  const trace = tableOf(outcome, 'queue-trace')
  const x = valuesOf(trace, 'time_s')
  const y = valuesOf(trace, 'packets')
  const ports = labelsOf(trace, 'port')
  const wanted = port !== undefined && ports.includes(port) ? port : ports[0]
  if (ports.every((each) => each === wanted)) return { x, y, step: true }
  const own = ports.map((each) => each === wanted)
  return { x: x.filter((_, index) => own[index]), y: y.filter((_, index) => own[index]), step: true }
}
