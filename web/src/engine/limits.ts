/** What a run would cost, and which runs belong into a terminal. */

import { parseQuantity } from '../scenario/quantity'
import { valueAt, type Document } from '../scenario/toml'
import type { Preview } from './types'

/** Half a minute of a slow machine. */
const MAX_HOPS = 50_000_000
const MAX_BYTES = 1 << 30

/** Sizes of the engine's records, rounded up. */
const BYTES_OF_FLOW = 4000
const BYTES_OF_HOST = 20_000
const BYTES_OF_PACKET = 100

export interface Estimate {
  /** What transfers of a known size need without losses; a run without any is as long as it says, and its links full. */
  hops: number
  /** If endless transfers keep the links full as long as the run may last. */
  mostHops: number
  bytes: number
  /** Transfers whose completion times are known afterwards. */
  flows: number
}

export class Refused extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'Refused'
  }
}

export function estimate(preview: Preview, document: Document): Estimate {
  const mss = quantityAt(document, ['transport', 'mss']) ?? (quantityAt(document, ['transport', 'mtu']) ?? 1500) - 40
  const duration = quantityAt(document, ['run', 'duration']) ?? 30
  // Data crosses that many links, and its acknowledgements as many.
  const links = preview.switches === 1 ? 2 : preview.switches === 2 ? 3 : 4
  const full = ((quantityAt(document, ['network', 'rate']) ?? 1e9) * duration) / 8 / mss
  const endless = preview.groups.filter((group) => !group.mean_bytes).length
  let packets = endless === preview.groups.length ? full : 0
  let flows = 0
  for (const group of preview.groups) {
    const bytes = group.mean_bytes ?? 0
    const offered = bytes > 0 && group.offered !== null ? (group.offered * duration) / 8 / bytes : 0
    const count = group.flows ?? offered
    flows += count
    packets += count * Math.ceil(bytes / mss)
  }
  return {
    hops: 2 * links * packets,
    mostHops: 2 * links * (endless > 0 ? Math.max(full, packets) : packets),
    flows,
    bytes: flows * BYTES_OF_FLOW + preview.hosts * BYTES_OF_HOST + preview.buffered * BYTES_OF_PACKET,
  }
}

function quantityAt(document: Document, path: string[]): number | undefined {
  const value = valueAt(document, path)
  return value === undefined ? undefined : parseQuantity(String(value))?.value
}

/** A sweep of more would take an hour, or fill the memory with its completion times. */
const MAX_SWEPT_HOPS = 20 * MAX_HOPS
const MAX_SWEPT_FLOWS = 10_000_000

/** Of an estimate no more digits mean anything. */
const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 })

/** Throws `Refused` for a sweep that is too large for a page, given what its cases cost and how often each is run. */
export function admitSweep(costs: Pick<Estimate, 'hops' | 'flows'>[], times = 1): void {
  const hops = times * costs.reduce((sum, each) => sum + each.hops, 0)
  const flows = times * costs.reduce((sum, each) => sum + each.flows, 0)
  if (hops > MAX_SWEPT_HOPS) {
    throw new Refused(
      `This sweep needs at least ${number.format(hops)} packet hops; the page runs up to ${number.format(MAX_SWEPT_HOPS)}. \`fanin sweep\` has no limit.`,
    )
  }
  if (flows > MAX_SWEPT_FLOWS) {
    throw new Refused(
      `This sweep has ${number.format(flows)} transfers; the page keeps up to ${number.format(MAX_SWEPT_FLOWS)}. \`fanin sweep\` has no limit.`,
    )
  }
}

/** Throws `Refused` for a run that is too large for a page, or for a view that takes less. */
export function admit(
  { hops, bytes }: Pick<Estimate, 'hops' | 'bytes'>,
  most = MAX_HOPS,
  taker = 'the page runs',
): void {
  if (hops > most) {
    throw new Refused(
      `This scenario needs at least ${number.format(hops)} packet hops; ${taker} up to ${number.format(most)}.`,
    )
  }
  if (bytes > MAX_BYTES) {
    throw new Refused(
      `This scenario needs about ${number.format(bytes / 1e9)} GB of memory; the page takes up to ${number.format(MAX_BYTES / 1e9)} GB.`,
    )
  }
}
