/** The form of a scenario: what the registry declares for it, section by section. */

import type { Entry, Param, Registry } from '../engine/types'
import { countOf, keysBelow, quoted, valueAt, type Document, type Path } from './toml'

export interface Section {
  id: string
  title: string
  /** What the chosen kind is. */
  summary: string
  path: Path
  /** As messages and overrides name it, such as `traffic.servers`. */
  name: string
  params: Param[]
  /** Set for a table of an array of tables, which can be removed. */
  index?: number
}

const TITLES = {
  network: 'Network',
  queue: 'Queue',
  transport: 'Transport',
  control: 'Controller',
  measure: 'Measure',
  run: 'Run',
}

/** All sections of a scenario, with those of the schemes that are looked at. */
export function sectionsOf(registry: Registry, document: Document, schemes: string[]): Section[] {
  const { sections } = registry
  return [
    { id: 'general', title: 'General', summary: '', path: [], name: '', params: registry.keys },
    withKind(document, 'network', 'topology', sections.network, registry.topologies),
    ...groups(document, 'traffic', sections.traffic, registry.traffic),
    withKind(document, 'queue', 'kind', sections.queue, registry.queues),
    plain('transport', sections.transport),
    ...schemeSections(registry, document, schemes),
    ...groups(document, 'fault', sections.fault, registry.faults),
    plain('control', sections.control),
    plain('measure', sections.measure),
    plain('run', sections.run),
  ]
}

type Single = keyof typeof TITLES

function plain(id: Single, params: Param[]): Section {
  return { id, title: TITLES[id], summary: '', path: [id], name: id, params }
}

/** A section whose kind, or topology, adds keys of its own. */
function withKind(document: Document, id: Single, key: string, params: Param[], kinds: Entry[]): Section {
  const kind = kinds.find((each) => each.key === valueAt(document, [id, key]))
  return { ...plain(id, [...params, ...(kind?.params ?? [])]), summary: kind?.summary ?? '' }
}

function groups(document: Document, array: 'traffic' | 'fault', params: Param[], kinds: Entry[]): Section[] {
  return Array.from({ length: countOf(document, array) }, (_, index) => {
    const kind = kinds.find((each) => each.key === valueAt(document, [array, index, 'kind']))
    const name = String(valueAt(document, [array, index, 'name']) ?? kind?.key ?? index + 1)
    const word = array === 'traffic' ? 'Traffic' : 'Fault'
    return {
      id: `${array}-${index}`,
      title: `${word}: ${name}`,
      summary: kind?.summary ?? '',
      path: [array, index],
      name: `${array}.${name}`,
      params: [...params, ...(kind?.params ?? [])],
      index,
    }
  })
}

function schemeSections(registry: Registry, document: Document, schemes: string[]): Section[] {
  const wanted = new Set([...schemes, ...keysBelow(document, ['scheme'])])
  return registry.schemes
    .filter((scheme) => wanted.has(scheme.key) && scheme.params.length > 0)
    .map((scheme) => ({
      id: `scheme-${scheme.key}`,
      title: `Scheme: ${scheme.key}`,
      summary: scheme.summary,
      path: ['scheme', scheme.key],
      name: `scheme.${scheme.key}`,
      params: scheme.params,
    }))
}

/** What is written into the file for a text from the form: numbers and truth values stand without quotes. */
export function literalOf(param: Param, text: string): string {
  const number = /^\d+(\.\d+)?$/.test(text)
  const numeric = param.takes === 'whole number' || param.takes === 'number' || param.takes.startsWith('share')
  const truth = param.takes === 'true or false' && param.words.includes(text)
  return (number && numeric) || truth ? text : quoted(text)
}

/** As the engine names a key in messages and in resolved values. */
export function nameOf(section: Section, param: Param): string {
  return section.name ? `${section.name}.${param.key}` : param.key
}

/** First lines of a new group: its kind, a name that is free, and an example of each value that it needs. */
export function newGroup(registry: Registry, document: Document, array: 'traffic' | 'fault', kind: string): string[] {
  const taken = new Set(
    Array.from({ length: countOf(document, array) }, (_, index) => {
      const own = valueAt(document, [array, index, 'name']) ?? valueAt(document, [array, index, 'kind'])
      return String(own)
    }),
  )
  let name = kind
  for (let number = 2; taken.has(name); number++) name = `${kind}-${number}`
  const kinds: Entry[] = array === 'traffic' ? registry.traffic : registry.faults
  const required = kinds.find((each) => each.key === kind)?.params.filter((param) => param.source === 'required') ?? []
  const values = required.map((param) => `${param.key} = ${literalOf(param, exampleOf(param))}`)
  return [`kind = ${quoted(kind)}`, ...(name === kind ? [] : [`name = ${quoted(name)}`]), ...values]
}

/** A value that the parameter takes: its first word, the first example in its description, or a small number. */
function exampleOf(param: Param): string {
  return param.words[0] ?? /"([^"]+)"/.exec(param.takes)?.[1] ?? (param.takes === 'text' ? '' : '4')
}
