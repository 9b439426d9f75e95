/** What the page and the engine say to each other. The engine is the same Rust code as on the command line. */

/** A column of a result table. Missing values are NaN; labels are indices into names; booleans 0 or 1. */
export interface Column {
  name: string
  unit: string
  description: string
  label: string
  kind: 'number' | 'label' | 'bool' | 'text'
  values: Float64Array
  names: string[]
}

export interface Table {
  name: string
  description: string
  rows: number
  columns: Column[]
}

/** Totals of one traffic group. */
export type GroupTotals = Record<string, number | string | null>

/** Totals of a run. `result_hash` is the hash, `groups` has those of each traffic group. */
export type Summary = Record<string, number | string | boolean | null | GroupTotals[] | Record<string, unknown>>

export interface Outcome {
  summary: Summary
  tables: Table[]
  wallMs: number
}

export interface ScenarioRequest {
  toml: string
  /** Shown as the file in messages. */
  name: string
  /** Path and value, such as `transport.scheme` and `dctcp`. */
  overrides: [string, string][]
  /** Other files that the scenario names. */
  files?: Record<string, string>
}

/** What is wrong with a scenario, and where. */
export interface Complaint {
  message: string
  file: string
  line: number | null
  key: string
  suggestion: string | null
  /** Further complaints, one line each. */
  more: string[]
}

export class EngineError extends Error implements Complaint {
  file: string
  line: number | null
  key: string
  suggestion: string | null
  more: string[]

  /** What goes wrong while a scenario runs has a message only. */
  constructor(complaint: Pick<Complaint, 'message'> & Partial<Complaint>) {
    super(complaint.message)
    this.name = 'EngineError'
    this.file = complaint.file ?? ''
    this.line = complaint.line ?? null
    this.key = complaint.key ?? ''
    this.suggestion = complaint.suggestion ?? null
    this.more = complaint.more ?? []
  }
}

/** One declared parameter. */
export interface Param {
  key: string
  /** What it takes, in words. */
  takes: string
  /** The words that it takes; for free text, those that may be in it. */
  words: string[]
  default: string
  follows: string | null
  doc: string
  source: string
  /** Id of the reading of a paper that it belongs to, or empty. */
  reading: string
}

/** One row of a registry. */
export interface Entry {
  key: string
  summary: string
  manual: string
  params: Param[]
}

export interface Scheme extends Entry {
  transport: Record<string, string>
  prefers: Record<string, string>
  stack: string | null
  effort: 'hosts' | 'switch-setting' | 'kernel' | 'switch' | 'controller'
  needs: string
  reacts_to: ('marks' | 'delay' | 'window' | 'schedule' | 'telemetry')[]
  colour: string
  marker: string
  readings: { id: string; text: string; params: string[] }[]
}

export interface Traffic extends Entry {
  /** The key that says how many servers answer at once, if the kind has one. */
  fan_in: string | null
}

export interface Setting {
  path: string
  value: string
  source: string
}

export interface Environment extends Entry {
  /** Short name; empty if it has none. */
  short: string
  stack: Setting[]
  switch: Setting[]
}

/** A declared total of a run. */
export interface Total {
  name: string
  unit: string
  /** The unit in which it is shown, if another one. */
  shown: string
  label: string
  definition: string
  short: string
  goal: string
  doc: string
  topic: string
  better: 'more' | 'less' | 'neither'
  of_groups: boolean
  hidden_at_zero: boolean
  always: boolean
}

export interface Workload {
  key: string
  title: string
  summary: string
  citation: string
  mean_bytes: number
}

export type SectionName = 'network' | 'queue' | 'transport' | 'traffic' | 'fault' | 'control' | 'measure' | 'run'

export interface Registry {
  schemes: Scheme[]
  topologies: Entry[]
  queues: Entry[]
  traffic: Traffic[]
  faults: Entry[]
  environments: Environment[]
  workloads: Workload[]
  totals: Total[]
  keys: Param[]
  sections: Record<SectionName, Param[]>
}

/** What a scenario would simulate. */
export interface Preview {
  hosts: number
  switches: number
  ports: number
  buffered: number
  groups: {
    name: string
    /** Transfers in the whole run, if they are counted. */
    flows: number | null
    at_once: number | null
    mean_bytes: number | null
    /** Offered load in bit/s, if the group is given by one. */
    offered: number | null
  }[]
}

/** Nodes and links; indices are those of result tables. */
export interface Topology {
  nodes: { name: string; kind: 'host' | 'switch'; role: 'sender' | 'receiver' | null; tier: number }[]
  links: {
    name: string
    from: number
    to: number
    rate_bps: number
    delay_s: number
    buffer_bytes: number | null
    bottleneck: boolean
  }[]
}

export interface ResolvedValue {
  path: string
  /** Whose end points have it, if another scheme of the scenario has another value. */
  scheme: string | null
  value: string
  /** The value in the unit of results; null of words. */
  number: number | null
  unit: string | null
  /** `file:line`, or `--set`; null for a default. */
  set_at: string | null
  is_default: boolean
  source: string
  doc: string
}

export interface RunOptions {
  /** Share of the simulated time that has passed. */
  progress?: (share: number) => void
  /** Aborting ends the run at once. */
  signal?: AbortSignal
}

export interface Engine {
  version(): Promise<string>
  registry(): Promise<Registry>
  /** JSON Schema of scenario files. */
  schema(): Promise<unknown>
  check(request: ScenarioRequest, signal?: AbortSignal): Promise<Preview>
  topology(request: ScenarioRequest): Promise<Topology>
  resolved(request: ScenarioRequest): Promise<ResolvedValue[]>
  run(request: ScenarioRequest, options?: RunOptions): Promise<Outcome>
}
