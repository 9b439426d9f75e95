/** The values that one turns first: how many servers, how much each, how large the buffer, from where marks, how long the timer. */

import type { Registry } from '../engine/types'
import { parseQuantity, writeQuantity, type Dimension, type Quantity } from './quantity'
import { countOf, quoted, setValue, valueAt, type Document, type Path } from './toml'

export interface Knob {
  id: string
  label: string
  /** All of these are set at once. */
  paths: Path[]
  /** As resolved values name the first of them. */
  name: string
  dimension: Dimension
  /** Where the slider can stand. */
  stops: number[]
  /** The value that the file says; none if it says none or another kind of value. */
  value: number | undefined
}

const STEPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]

/** Round numbers between two ends, evenly spaced to the ear and eye. */
export function roundStops(low: number, high: number): number[] {
  const stops: number[] = []
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const step of STEPS) {
      const stop = Number((step * 10 ** power).toPrecision(3))
      if (stop >= low && stop <= high) stops.push(stop)
    }
  }
  return stops
}

const whole = (stops: number[]): number[] => [...new Set(stops.map(Math.round))]

const MOST_SENDERS = 1000
const SENDERS = [...Array.from({ length: 128 }, (_, index) => index + 1), ...whole(roundStops(129, MOST_SENDERS))]
const BYTES = roundStops(1e3, 4e6)
const PACKETS = whole(roundStops(4, 2000))
const BUFFER_BYTES = roundStops(6e3, 3e6)
const SHARED_BYTES = roundStops(1e5, 6e7)
const TIMES = roundStops(100e-6, 1)

/** The value that a key has if the file says none; by its name among resolved values. */
type InEffect = (name: string) => string | undefined

/** The knobs that a scenario has; of schemes, the chosen ones count. */
export function knobsOf(
  registry: Registry,
  document: Document,
  schemes: string[],
  inEffect: InEffect = () => undefined,
): Knob[] {
  return [
    ...groupKnobs(registry, document),
    ...bufferKnob(document, inEffect),
    ...thresholdKnob(registry, document, schemes, inEffect),
    knob(document, 'timer', 'Minimum RTO', [['transport', 'rto-min']], 'transport.rto-min', 'time', TIMES),
  ]
}

function knob(
  document: Document,
  id: string,
  label: string,
  paths: Path[],
  name: string,
  dimension: Dimension,
  stops: number[],
): Knob {
  const said = paths.map((path) => valueAt(document, path)).find((value) => value !== undefined)
  const quantity = said === undefined ? undefined : parseQuantity(String(said))
  const value = quantity?.dimension === dimension ? quantity.value : undefined
  return { id, label, paths, name, dimension, stops: value === undefined ? stops : reaching(stops, value), value }
}

/** A value beyond the slider's end moves the end. */
function reaching(stops: number[], value: number): number[] {
  return value > (stops.at(-1) ?? 0) ? [...stops, value] : value < (stops[0] ?? 0) ? [value, ...stops] : stops
}

/** Of the first group of servers that answer at once. */
function groupKnobs(registry: Registry, document: Document): Knob[] {
  for (let index = 0; index < countOf(document, 'traffic'); index++) {
    const kind = registry.traffic.find((each) => each.key === valueAt(document, ['traffic', index, 'kind']))
    if (!kind?.fan_in) continue
    const at = (key: string): Path => ['traffic', index, key]
    const name = `traffic.${String(valueAt(document, at('name')) ?? kind.key)}`
    const sizeKey = valueAt(document, at('bytes-total')) === undefined ? 'bytes-each' : 'bytes-total'
    const sizeLabel = sizeKey === 'bytes-total' ? 'Bytes together' : 'Bytes each'
    return [
      knob(document, 'senders', 'Senders', [at(kind.fan_in)], `${name}.${kind.fan_in}`, 'count', SENDERS),
      knob(document, 'bytes', sizeLabel, [at(sizeKey)], `${name}.${sizeKey}`, 'bytes', BYTES),
    ]
  }
  return []
}

/** Whether switches divide shared memory among their ports: then no port has a buffer of its own. */
export function isShared(document: Document): boolean {
  return (valueAt(document, ['network', 'admission']) ?? 'static') !== 'static'
}

function bufferKnob(document: Document, inEffect: InEffect): Knob[] {
  if (isShared(document)) {
    const shared: Path[] = [['network', 'shared-buffer']]
    return [knob(document, 'shared', 'Shared buffer', shared, 'network.shared-buffer', 'bytes', SHARED_BYTES)]
  }
  const path: Path = ['network', 'buffer']
  const text = valueAt(document, path) ?? inEffect('network.buffer') ?? ''
  const inBytes = parseQuantity(String(text))?.dimension === 'bytes'
  return [
    inBytes
      ? knob(document, 'buffer', 'Buffer', [path], 'network.buffer', 'bytes', BUFFER_BYTES)
      : knob(document, 'buffer', 'Buffer', [path], 'network.buffer', 'packets', PACKETS),
  ]
}

const THRESHOLDS = ['mark-threshold', 'threshold']

/** Of every chosen scheme, or of the queue, that marks from one threshold on. */
function thresholdKnob(registry: Registry, document: Document, schemes: string[], inEffect: InEffect): Knob[] {
  const queue = registry.queues.find((each) => each.key === valueAt(document, ['queue', 'kind']))
  const places = [
    ...registry.schemes
      .filter((scheme) => schemes.includes(scheme.key))
      .flatMap((scheme) => scheme.params.map((param): Path => ['scheme', scheme.key, param.key])),
    ...(queue?.params ?? []).map((param): Path => ['queue', param.key]),
  ].filter((path) => THRESHOLDS.includes(String(path.at(-1))))
  const [first] = places
  if (!first) return []
  const said = places.map((path) => parseQuantity(String(valueAt(document, path) ?? ''))).find((found) => found)
  const name = first.join('.')
  // Some schemes count bytes, and a slider of packets could not show their default.
  const inBytes = (said ?? parseQuantity(inEffect(name) ?? ''))?.dimension === 'bytes'
  const stops = inBytes ? BUFFER_BYTES : PACKETS
  return [knob(document, 'threshold', 'Marking threshold', places, name, inBytes ? 'bytes' : 'packets', stops)]
}

/** The text with a knob turned. */
export function turn(text: string, { paths, dimension }: Knob, value: number): string {
  const written = writeQuantity({ value, dimension })
  const literal = dimension === 'count' ? written : quoted(written)
  return paths.reduce((changed, path) => setValue(changed, path, literal), text)
}

/** The place of a value among the stops, or of the nearest one. */
export function stopOf(stops: number[], value: number): number {
  const distances = stops.map((stop) => Math.abs(Math.log(stop / Math.max(value, 1e-12))))
  return distances.indexOf(Math.min(...distances))
}

/** A default that is one quantity of the knob's kind, such as "200ms". */
export function quantityOf(knob: Knob, text: string | undefined): Quantity | undefined {
  const quantity = parseQuantity(text ?? '')
  return quantity?.dimension === knob.dimension ? quantity : undefined
}
