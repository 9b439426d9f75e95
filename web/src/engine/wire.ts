/** The messages between the page, its workers and the WebAssembly module. */

import type { Column, Complaint, Outcome, ScenarioRequest, Summary, Table } from './types'

export type Operation = 'version' | 'registry' | 'schema' | 'check' | 'topology' | 'resolved' | 'run'

/** What the module is asked, as JSON. */
export interface EngineRequest {
  op: Operation
  scenario?: ScenarioRequest
}

/** What it answers: JSON of an `Answer`, and beside it the numbers of all columns, table by table. */
export interface EngineReply {
  json: string
  columns: Float64Array[]
}

export type Answer = { value: unknown } | { error: Pick<Complaint, 'message'> & Partial<Complaint> }

/** The value of `run`: tables whose columns' numbers come beside the JSON. */
export interface RunValue {
  summary: Summary
  tables: (Omit<Table, 'columns'> & { columns: Omit<Column, 'values'>[] })[]
}

/** From the page to a worker. The first message has the module, every later one a request. */
export type ToWorker = { module: WebAssembly.Module } | { request: EngineRequest }

/** From a worker to the page. */
export type FromWorker =
  | { progress: number }
  | { reply: EngineReply; wallMs: number; memoryBytes: number }
  /** The module trapped or could not be loaded: its worker is of no more use. */
  | { broken: string }

/** Puts the numbers into their columns. */
export function outcomeOf(value: RunValue, columns: Float64Array[], wallMs: number): Outcome {
  let next = 0
  const tables = value.tables.map((table) => ({
    ...table,
    columns: table.columns.map((column) => ({ ...column, values: columns[next++] ?? new Float64Array() })),
  }))
  return { summary: value.summary, tables, wallMs }
}
