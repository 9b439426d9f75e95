import { expect, test } from 'vitest'
import type { Param, Registry } from '../engine/types'
import { literalOf, newGroup, sectionsOf } from './form'
import { read } from './toml'

const param = (key: string, takes: string, words: string[] = [], source = ''): Param => ({
  key,
  takes,
  words,
  default: '',
  follows: null,
  doc: '',
  source,
  reading: '',
})
const entry = (key: string, params: Param[]) => ({ key, summary: `a ${key}`, manual: '', params })
const traffic = entry('incast', [
  param('senders', 'whole number', [], 'required'),
  param('bytes', 'bytes such as "512KB"', [], 'required'),
])

const registry = {
  keys: [param('environment', 'rfc | linux-6', ['rfc', 'linux-6'])],
  topologies: [entry('star', [param('sender-hosts', 'whole number')])],
  queues: [],
  traffic: [{ ...traffic, fan_in: 'senders' }],
  faults: [],
  schemes: [entry('newreno', []), entry('dctcp', [param('g', 'number')])],
  sections: {
    network: [param('topology', 'star', ['star'])],
    queue: [],
    transport: [],
    fault: [],
    control: [],
    measure: [],
    run: [],
    traffic: [param('kind', 'incast', ['incast'])],
  },
} as unknown as Registry

const document = read('[network]\ntopology = "star"\n[[traffic]]\nkind = "incast"\nname = "servers"\n')

test('A kind adds its keys to its section, and a group has its name', () => {
  const sections = sectionsOf(registry, document, [])
  const keys = (id: string) => sections.find((each) => each.id === id)?.params.map((each) => each.key)
  expect(keys('network')).toEqual(['topology', 'sender-hosts'])
  expect(keys('traffic-0')).toEqual(['kind', 'senders', 'bytes'])
  expect(sections.find((each) => each.id === 'traffic-0')?.name).toBe('traffic.servers')
})

test('A scheme has a section if it is looked at or in the file, and has parameters', () => {
  const ids = (schemes: string[], text = '') => sectionsOf(registry, read(text), schemes).map((each) => each.id)
  expect(ids(['newreno', 'dctcp'])).toContain('scheme-dctcp')
  expect(ids(['newreno', 'dctcp'])).not.toContain('scheme-newreno')
  expect(ids([], '[scheme.dctcp]\ng = 0.1\n')).toContain('scheme-dctcp')
  expect(ids([])).not.toContain('scheme-dctcp')
})

test('Numbers and truth values stand without quotes, where they are expected', () => {
  expect(literalOf(param('n', 'whole number'), '8')).toBe('8')
  expect(literalOf(param('n', 'whole number'), 'eight')).toBe('"eight"')
  expect(literalOf(param('g', 'share such as 0.3, "30%" or "1/16"'), '1/16')).toBe('"1/16"')
  expect(literalOf(param('b', 'true or false', ['true', 'false']), 'true')).toBe('true')
  expect(literalOf(param('t', 'text'), '8')).toBe('"8"')
})

test('A new group has a name of its own and an example of all that it needs', () => {
  const kind = newGroup(registry, document, 'traffic', 'incast')
  expect(kind).toEqual(['kind = "incast"', 'senders = 4', 'bytes = "512KB"'])
  const second = newGroup(registry, read('[[traffic]]\nkind = "incast"\n'), 'traffic', 'incast')
  expect(second).toContain('name = "incast-2"')
})
