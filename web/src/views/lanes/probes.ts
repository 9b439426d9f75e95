/** What was recorded of one flow's connection, as lines. */

import { labelsOf, tableOf, valuesOf } from '../../engine/simulate'
import type { Lane } from '../../trace/lanes'
import type { Trace } from '../../trace/session'
import type { Points } from '../../ui/chartdata'

export interface Quantity {
  /** Name of the probe. */
  probe: string
  label: string
}

export interface Plot {
  title: string
  label: string
  unit: string
  quantities: Quantity[]
}

export const PLOTS: Plot[] = [
  {
    title: 'Windows and bytes in flight',
    label: 'Bytes',
    unit: 'B',
    quantities: [
      { probe: 'cwnd', label: 'cwnd' },
      { probe: 'receiver-window', label: 'advertised window' },
      { probe: 'in-flight', label: 'in flight' },
    ],
  },
  {
    title: 'Round trip, smoothed',
    label: 'Round trip',
    unit: 's',
    quantities: [{ probe: 'srtt', label: 'round trip' }],
  },
  { title: 'Alpha', label: 'Alpha', unit: '1', quantities: [{ probe: 'alpha', label: 'alpha' }] },
]

export interface Recording {
  found: Map<string, Points>
  /** Why there is no line for a quantity; empty if there is one. */
  absent: (quantity: Quantity) => string
}

/** The changes of one connection: a value holds until the next one. */
export function recordingOf(trace: Trace, lane: Lane): Recording {
  const table = tableOf(trace.outcome, 'probes')
  const names = labelsOf(table, 'name')
  const times = valuesOf(table, 'time_s')
  const values = valuesOf(table, 'value')
  const lines = new Map<string, { x: number[]; y: number[] }>()
  valuesOf(table, 'connection').forEach((connection, row) => {
    if (connection !== lane.connection) return
    const name = names[row] ?? ''
    const line = lines.get(name) ?? { x: [], y: [] }
    lines.set(name, line)
    line.x.push(times[row] ?? 0)
    line.y.push(values[row] ?? 0)
  })
  // The last value holds as long as the flow lasts.
  for (const { x, y } of lines.values()) {
    if ((x.at(-1) ?? Infinity) >= lane.end) continue
    x.push(lane.end)
    y.push(y.at(-1) ?? NaN)
  }
  const known = new Set(names)
  const scheme = trace.values?.find(({ path }) => path === 'transport.scheme')?.value ?? 'this scheme'
  const asked = trace.values?.find(({ path }) => path === 'measure.probes')?.value.split(/[\s,]+/) ?? []
  const absent = ({ probe, label }: Quantity) => {
    if (lines.has(probe)) return ''
    if (known.has(probe)) return `${label}: this flow ${lines.size > 0 ? 'has no value of it' : 'was not probed'}`
    return asked.includes(probe) ? `${label}: ${scheme} has none` : `${label}: not recorded (measure.probes)`
  }
  const found = new Map([...lines].map(([name, line]): [string, Points] => [name, { ...line, step: true }]))
  return { found, absent }
}
