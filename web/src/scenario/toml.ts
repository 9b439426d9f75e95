/** Reads a scenario's TOML, and changes single values in it: comments, order and everything else stay as they are. */

import { parseTOML, ParseError, type AST } from 'toml-eslint-parser'

/** Keys from the root; a number is the index in an array of tables. */
export type Path = (string | number)[]

export type Value = string | number | boolean

interface Entry {
  path: Path
  /** None if it is an array, a date or a table. */
  value: Value | undefined
  /** Of the value in the text. */
  range: [number, number]
  /** Of key and value. */
  whole: [number, number]
  line: number
  owner: Owner
}

/** Something that keys can be added to. */
interface Owner {
  path: Path
  /** Where its last key ends; where its header ends if it has none. */
  end: number
  inline: boolean
  empty: boolean
  /** Where its header begins. */
  start: number
  line: number
}

export interface Document {
  text: string
  entries: Map<string, Entry>
  owners: Map<string, Owner>
  /** Whether the text is no TOML: the engine says why. */
  broken: boolean
}

const id = (path: Path): string => JSON.stringify(path)

export function read(text: string): Document {
  const document: Document = { text, entries: new Map(), owners: new Map(), broken: false }
  try {
    const [root] = parseTOML(text).body
    addOwner(document, [], root, 0)
    for (const node of root.body) {
      if (node.type === 'TOMLKeyValue') addEntry(document, owner(document, []), node)
      else addTable(document, node)
    }
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    document.broken = true
  }
  return document
}

function owner(document: Document, path: Path): Owner {
  const found = document.owners.get(id(path))
  if (!found) throw new Error(`no table ${id(path)}`)
  return found
}

function addOwner(document: Document, path: Path, node: AST.TOMLTopLevelTable | AST.TOMLTable, header: number): void {
  const keys = node.body.filter((each) => each.type === 'TOMLKeyValue')
  const end = keys.at(-1)?.range[1] ?? header
  const { range, loc } = node
  document.owners.set(id(path), {
    path,
    end,
    inline: false,
    empty: keys.length === 0,
    start: range[0],
    line: loc.start.line,
  })
}

function addTable(document: Document, node: AST.TOMLTable): void {
  // The header ends after its one or two brackets.
  addOwner(document, node.resolvedKey, node, node.key.range[1] + (node.kind === 'array' ? 2 : 1))
  for (const each of node.body) addEntry(document, owner(document, node.resolvedKey), each)
}

function addEntry(document: Document, within: Owner, node: AST.TOMLKeyValue): void {
  const path = [...within.path, ...node.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value))]
  const { value: content } = node
  document.entries.set(id(path), {
    path,
    value: content.type === 'TOMLValue' && !(content.value instanceof Date) ? content.value : undefined,
    range: content.range,
    whole: node.range,
    line: node.loc.start.line,
    owner: within,
  })
  if (content.type !== 'TOMLInlineTable') return
  const { range, body, loc } = content
  const end = body.at(-1)?.range[1] ?? range[0] + 1
  const inner = { path, end, inline: true, empty: body.length === 0, start: range[0], line: loc.start.line }
  document.owners.set(id(path), inner)
  for (const each of body) addEntry(document, inner, each)
}

/** The value at a path, if it is there and neither table nor array. */
export function valueAt(document: Document, path: Path): Value | undefined {
  return document.entries.get(id(path))?.value
}

/** Whether the path is in the text, with whatever value. */
export function has(document: Document, path: Path): boolean {
  return document.entries.has(id(path)) || document.owners.has(id(path))
}

/** The line of a key or of a table's header. */
export function lineOf(document: Document, path: Path): number | undefined {
  return document.entries.get(id(path))?.line ?? document.owners.get(id(path))?.line
}

/** Number of tables in an array of tables. */
export function countOf(document: Document, name: string): number {
  let count = 0
  while (document.owners.has(id([name, count]))) count++
  return count
}

/** Keys directly below a path that are in the text. */
export function keysBelow(document: Document, path: Path): string[] {
  const found = new Set<string>()
  for (const { path: each } of [...document.entries.values(), ...document.owners.values()]) {
    const next = each[path.length]
    if (each.length > path.length && path.every((part, at) => part === each[at])) found.add(String(next))
  }
  return [...found]
}

/** The text with another value at the path. `literal` is TOML. */
export function setValue(text: string, path: Path, literal: string): string {
  const document = read(text)
  if (document.broken) return text
  const present = document.entries.get(id(path))
  if (present) return splice(text, present.range, literal)
  const home = homeOf(document, path)
  if (!home) return appendTable(text, `[${keyText(path.slice(0, -1))}]`, `${keyText(path.slice(-1))} = ${literal}`)
  return insertInto(text, home, `${keyText(path.slice(home.path.length))} = ${literal}`)
}

/** Where a new key belongs: in the table of its path, or in the one that has others of that table with dotted keys. */
function homeOf(document: Document, path: Path): Owner | undefined {
  const table = path.slice(0, -1)
  const exact = document.owners.get(id(table))
  if (exact || table.length === 0) return exact
  const sibling = [...document.entries.values()].find(
    (entry) => entry.path.length > table.length && table.every((part, at) => part === entry.path[at]),
  )
  return sibling?.owner
}

function insertInto(text: string, home: Owner, line: string): string {
  if (home.inline) return splice(text, [home.end, home.end], home.empty ? ` ${line} ` : `, ${line}`)
  if (home.path.length === 0 && home.empty) return insertAtTop(text, line)
  const end = endOfLine(text, home.end)
  return splice(text, [end, end], `\n${indentation(text, home)}${line}`)
}

/** A first key of the whole file comes after the comment that introduces it, and before the first table. */
function insertAtTop(text: string, line: string): string {
  const table = /^\s*\[/m.exec(text)
  const before = text.slice(0, table?.index ?? text.length)
  const comments = /^(?:[ \t]*#.*\n)*/.exec(before)?.[0].length ?? 0
  return splice(text, [comments, comments], `${line}\n`)
}

function indentation(text: string, home: Owner): string {
  if (home.empty) return ''
  const lineStart = text.lastIndexOf('\n', home.end - 1) + 1
  return /^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? ''
}

function appendTable(text: string, header: string, lines: string): string {
  const body = text.trimEnd()
  return `${body}${body ? '\n\n' : ''}${header}\n${lines}\n`
}

/** The text without a key; its line goes if nothing else is on it. */
export function removeValue(text: string, path: Path): string {
  const present = read(text).entries.get(id(path))
  if (!present) return text
  const [start, end] = present.whole
  if (present.owner.inline) return removeInline(text, start, end)
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  return splice(text, [lineStart, Math.min(endOfLine(text, end) + 1, text.length)], '')
}

function removeInline(text: string, start: number, end: number): string {
  const after = /^\s*,\s*/.exec(text.slice(end))
  if (after) return splice(text, [start, end + after[0].length], '')
  const before = /\s*,\s*$/.exec(text.slice(0, start))
  return splice(text, [start - (before?.[0].length ?? 0), end], '')
}

/** The text with one more table in an array of tables, after the others of that name. */
export function addToArray(text: string, name: string, lines: string[]): string {
  const document = read(text)
  if (document.broken) return text
  const last = lastWithin(document, [name, countOf(document, name) - 1])
  if (last === undefined) return appendTable(text, `[[${name}]]`, lines.join('\n'))
  const end = endOfLine(text, last)
  return splice(text, [end, end], `\n\n[[${name}]]\n${lines.join('\n')}`)
}

/** The text without one table of an array of tables. */
export function removeFromArray(text: string, name: string, index: number): string {
  const document = read(text)
  const table = document.owners.get(id([name, index]))
  const last = lastWithin(document, [name, index])
  if (!table || last === undefined) return text
  const start = text.lastIndexOf('\n', table.start - 1) + 1
  const blank = /^\n*/.exec(text.slice(endOfLine(text, last)))?.[0].length ?? 0
  return splice(text, [start, endOfLine(text, last) + blank], '')
}

/** Where the last key of a table and of the tables within it ends. */
function lastWithin(document: Document, path: Path): number | undefined {
  const ends = [...document.owners.values()]
    .filter((each) => !each.inline && path.every((part, at) => part === each.path[at]))
    .map((each) => each.end)
  return ends.length > 0 ? Math.max(...ends) : undefined
}

function splice(text: string, [start, end]: [number, number], insert: string): string {
  return text.slice(0, start) + insert + text.slice(end)
}

/** A value can span lines; what follows it on its last line belongs to it. */
function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

function keyText(path: Path): string {
  return path.map((part) => (/^[A-Za-z0-9_-]+$/.test(String(part)) ? String(part) : quoted(String(part)))).join('.')
}

/** A basic string: TOML escapes as JSON does. */
export function quoted(text: string): string {
  return JSON.stringify(text)
}
