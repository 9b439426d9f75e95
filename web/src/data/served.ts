/**
 * The results folder of `fanin serve`. Its token comes in the fragment of the printed address, which no request carries, and is
 * kept for this origin, so that links to runs open in other tabs too. The next start has another one.
 */

import type { Column, Outcome, Summary, Table } from '../engine/types'

const KEY = 'fanin-token'

const FRAGMENT = /^#token=([\w-]+)$/

/** Keeps the token of the address, and removes it from there. Comes before anything else reads the address. */
export function takeToken(): void {
  const token = FRAGMENT.exec(location.hash)?.[1]
  if (token === undefined) return
  localStorage.setItem(KEY, token)
  history.replaceState(null, '', `${location.pathname}#/runs`)
}

/** Whether the page was ever opened by a printed address: a static site asks for nothing. */
export function hasToken(): boolean {
  return localStorage.getItem(KEY) !== null
}

/** Why the server does not answer, in its own words if it has any. */
export class ServedError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message)
    this.name = 'ServedError'
  }
}

async function ask(path: string): Promise<Response> {
  const headers = { authorization: `Bearer ${localStorage.getItem(KEY) ?? ''}` }
  const response = await fetch(new URL(`api/${path}`, document.baseURI), { headers })
  const type = response.headers.get('content-type') ?? ''
  if (response.ok && !type.startsWith('text/html')) return response
  const { detail } = (type.includes('json') ? await response.json() : {}) as { detail?: string }
  throw new ServedError(detail ?? 'this is not a server of fanin', response.status)
}

async function json<T>(path: string): Promise<T> {
  return (await (await ask(path)).json()) as T
}

export interface About {
  fanin: string
  engine: string
  folder: string
}

export interface ColumnInfo {
  name: string
  label: string
  definition: string
  unit: string
}

/** A run in the list: its id, names of its tables, whether it has captured packets, and a value for each column. */
export type Row = Record<string, string | number | null | boolean | string[]> & {
  run_id: string
  tables: string[]
  capture: boolean
}

export interface Runs {
  total: number
  found: number
  offset: number
  columns: ColumnInfo[]
  runs: Row[]
}

export interface RunDetail {
  run_id: string
  manifest: { summary: Summary; experiment?: unknown; finished?: unknown; engine_version?: unknown; host?: unknown }
  totals: { topic: string; label: string; value: string }[]
  tables: string[]
  capture: boolean
}

export interface Wanted {
  search: string
  sort: string
  descending: boolean
  offset: number
}

export const PAGE = 50

export function about(): Promise<About> {
  return json('ping')
}

export function listRuns({ search, sort, descending, offset }: Wanted): Promise<Runs> {
  const order = descending ? 'descending' : 'ascending'
  const query = new URLSearchParams({ search, sort, order, offset: String(offset), limit: String(PAGE) })
  return json(`runs?${query.toString()}`)
}

const of = (run: string) => `runs/${encodeURIComponent(run)}`

export function readRun(run: string): Promise<RunDetail> {
  return json(of(run))
}

export async function readScenario(run: string): Promise<string> {
  return (await ask(`${of(run)}/scenario`)).text()
}

/** A table as it is sent: JSON has no NaN. */
export type SentTable = Omit<Table, 'columns'> & {
  of: number
  columns: (Omit<Column, 'values'> & { values: (number | null)[] })[]
}

export function received({ columns, ...table }: SentTable): Table & { of: number } {
  return {
    ...table,
    columns: columns.map((column) => ({
      ...column,
      values: Float64Array.from(column.values, (value) => value ?? Number.NaN),
    })),
  }
}

export async function readTable(run: string, table: string, limit: number): Promise<Table & { of: number }> {
  const [sent] = await json<SentTable[]>(`${of(run)}/tables/${encodeURIComponent(table)}?limit=${limit}`)
  if (!sent) throw new ServedError('the table has no answer', 422)
  return received(sent)
}

/** A stored run as if the page had just run it. */
export async function readOutcome(run: RunDetail): Promise<Outcome> {
  const { summary } = run.manifest
  const tables = await json<SentTable[]>(`${of(run.run_id)}/outcome`)
  return { summary, tables: tables.map(received), wallMs: Number(summary.wall_s ?? 0) * 1000 }
}

/** The content of a download: a link could not carry the token. */
export async function readFile(run: string, path: string): Promise<Blob> {
  return (await ask(`${of(run)}/${path}`)).blob()
}
