/** The papers' sentences with their verdicts, as `python/fanin/show/page_data.py` writes them. */

import type { Text } from '../ui/prose'
import { loadData } from './load'

export type Tone = 'good' | 'part' | 'bad' | 'none'

/** A verdict or an outcome. */
export interface Word {
  name: string
  meaning: string
  sign: string
  tone: Tone
}

export interface Paper {
  key: string
  name: string
  /** Number of sentences of each verdict. */
  counts: Record<string, number>
  sentences: number
  late: number
  cases: number
  reproduced: number
  /** How many of its experiments were run, and how many there are. */
  run: number
  experiments: number
  /** The paper's own scheme, or empty, and the beginning of its manual page. */
  scheme: string
  manual: Text[]
}

/** What the list of experiments shows of one. */
export interface Listed {
  key: string
  paper: string
  figure: string
  title: string
  state: string
  run: boolean
  sentences: number
  command: string
}

/** A name and what is said of it. */
export type Fact = [name: string, text: string]

/** What the list shows of a sentence. */
export interface Brief {
  id: string
  experiment: string
  paper: string
  figure: string
  says: string
  verdict: string
  /** Whether its experiment was run. */
  run: boolean
  /** Whether other seeds, or 1 % more or less, would give another verdict. */
  edge: boolean
  /** What follows a verdict that is provisional, such as that it is of a quick look, or empty. */
  mark: string
  /** Whether it rests on a case that was written after a first run. */
  late: boolean
  /** The condition of the verdict in a few words, or why the sentence is not reproduced; empty if it holds as printed. */
  condition: string
  /** The same sentence where it is counted, or empty. */
  same_as: string
  half_of: string
  published: string
  ours: string
  systems: string[]
}

export interface Papers {
  runs: string
  hops: string
  engine: string
  /** Versions, machine, seeds, and when. */
  facts: Fact[]
  /** How claims are judged. */
  method: string[]
  verdicts: Word[]
  outcomes: Word[]
  papers: Paper[]
  experiments: Listed[]
  sentences: Brief[]
  /** Whether there is a ranking. */
  ranked: boolean
}

/** A sentence under one setting. */
export interface Case {
  reading: string
  quantity: string
  published: string
  ours: string
  interval: string
  accept: string
  outcome: string
  edge: boolean
  basis: string
  environment: string
  reason: string
  note: string
  added: string
}

export interface Sentence {
  id: string
  rests_on: string
  tried: number
  /** The case whose numbers stand for the sentence. */
  decides: number
  cases: Case[]
  repeats: string[]
  /** Indices into the experiment's figures and scenarios. */
  figure: number | null
  scenario: number | null
}

export interface FigureLine {
  label: string
  x: number[] | string[]
  y: number[]
  low?: number[]
  high?: number[]
}

export interface Published {
  label: string
  x: number[]
  y: number[]
  by: string
}

export interface Figure {
  name: string
  kind: string
  title: string
  note: string
  /** Labels of the axes with their units, in which the numbers are. */
  x: string
  y: string
  lines: FigureLine[]
  published: Published[]
  /** What a share of one is on the axis of a distribution. */
  whole?: number
  /** In a report: the file with all data, beside the page; empty if it is lost. */
  data?: string
  /** In a report: the data of a figure without lines, or their beginning. */
  rows?: { header: string[]; first: string[][]; of: number }
}

export interface Experiment {
  key: string
  title: string
  description: Text[]
  command: string
  runs: number
  seeds: string
  engine: string
  facts: Fact[]
  warnings: string[]
  sentences: Sentence[]
  figures: Figure[]
  scenarios: { toml: string; compare: string[] }[]
  /** In a report: the experiment's file, beside the page, and its scenario with every value in effect. */
  file?: string
  resolved?: string
}

export function papers(): Promise<Papers> {
  return loadData('papers.json') as Promise<Papers>
}

export function experiment(key: string): Promise<Experiment> {
  return loadData(`experiments/${key}.json`) as Promise<Experiment>
}

/** What of the list is shown. Empty values let everything through. */
export interface Filter {
  words: string
  paper: string
  verdict: string
  system: string
}

/** The sentences that count: each once, whether one experiment judges it or several. */
export function counted(sentences: Brief[]): Brief[] {
  return sentences.filter((each) => !each.same_as && !each.half_of)
}

/** What passes the filter; what was not run is shown only to whoever asks for it. */
export function matching(sentences: Brief[], { words, paper, verdict, system }: Filter): Brief[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  return sentences.filter((each) => {
    if (paper && each.paper !== paper) return false
    if (verdict ? each.verdict !== verdict : !each.run) return false
    if (system && !each.systems.includes(system)) return false
    const text = `${each.says} ${each.figure} ${each.id} ${each.systems.join(' ')}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}

export function filterOf(params: URLSearchParams): Filter {
  const of = (name: string) => params.get(name) ?? ''
  return { words: of('q'), paper: of('paper'), verdict: of('verdict'), system: of('system') }
}
