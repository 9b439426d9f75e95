import { expect, test } from 'vitest'
import { lanesOf, queryOf, type Query } from './runs'
import type { Column, Outcome } from '../../engine/types'
import { PAPERS, steps, tomlOf } from './steps'

test('There are eight steps, and the five papers', () => {
  expect(steps).toHaveLength(8)
  expect(PAPERS.map((paper) => paper.scheme).sort()).toEqual(['dt-cwa', 'pfdct', 'rcc', 'rcce', 'sdtcp'])
})

test('A scenario has what was turned', () => {
  const [step] = steps
  if (!step) throw new Error('no step')
  const toml = tomlOf(step, { ...step.start, senders: 33, timer: '5ms', window: 4, threshold: 7 })
  for (const part of ['senders = 33', 'rto-min = "5ms"', 'initial-window = "4mss"', 'mark-threshold = "7pkt"']) {
    expect(toml).toContain(part)
  }
})

const query: Query = {
  senders: 24,
  complete: 24,
  seconds: 0.20125,
  waited: 1,
  drops: 112,
  goodputBps: 3e7,
  backgroundBps: 5e8,
  longestQueue: 100,
}

test('Every step says what its runs show, with their numbers', () => {
  for (const step of steps) {
    const queries = step.schemes(step.start).map(() => query)
    expect(step.says(queries, step.start)).toMatch(/\d/)
  }
  expect(steps[2]?.says([{ ...query, complete: 20 }], { ...steps[2].start })).toContain('20 of 24 answers')
})

const column = (name: string, values: number[], names: string[] = []): Column => ({
  name,
  unit: '',
  description: '',
  label: '',
  kind: names.length > 0 ? 'label' : 'number',
  values: Float64Array.from(values),
  names,
})

const table = (name: string, columns: Column[]) => ({
  name,
  description: '',
  rows: columns[0]?.values.length ?? 0,
  columns,
})

const outcome: Outcome = {
  wallMs: 1,
  summary: { bottleneck: 'b', simulated_s: 9, goodput_finite_bps: 7, queue_max_packets: 3, drops: 1 },
  tables: [
    table('flows', [
      column('group', [0, 0, 1], ['servers', 'background']),
      column('connection', [5, 6, 7]),
      column('start_s', [1, 2, 0]),
      column('completion_s', [4, 3, NaN]),
      column('timeouts', [1, 0, 3]),
    ]),
    table('crossings', [
      column('link', [0, 1, 1, 1, 1], ['a', 'b']),
      column('kind', [0, 0, 0, 1, 0], ['data', 'ack']),
      column('connection', [5, 5, 5, 6, 7]),
      column('retransmitted', [0, 0, 1, 0, 0]),
      column('time_s', [1.1, 1.2, 3.9, 2.5, 2.6]),
    ]),
    table('drops', [column('connection', [5]), column('time_s', [1.5])]),
  ],
}

test('A query is that of the servers alone, from its first start to its last end', () => {
  const found = queryOf(outcome)
  expect([found.senders, found.complete, found.seconds, found.waited]).toEqual([2, 2, 3, 1])
})

test('Lanes have the data that crossed the last link, the first to end at the top', () => {
  const { lanes, from, to } = lanesOf(outcome)
  expect([from, to]).toEqual([1, 4])
  expect(lanes).toEqual([
    { arrived: [], again: [], lost: [] },
    { arrived: [1.2], again: [3.9], lost: [1.5] },
  ])
})
