import { expect, test } from 'vitest'
import type { Registry } from '../engine/types'
import { knobsOf, quantityOf, roundStops, stopOf, turn } from './knobs'
import { read, valueAt } from './toml'

const scheme = (key: string, keys: string[]) => ({ key, params: keys.map((each) => ({ key: each })) })
const registry = {
  traffic: [
    { key: 'background', fan_in: null },
    { key: 'incast', fan_in: 'senders' },
  ],
  schemes: [scheme('newreno', []), scheme('dctcp', ['mark-threshold', 'g']), scheme('l2dct', ['mark-threshold'])],
  queues: [{ key: 'ecn-threshold', params: [{ key: 'threshold' }] }],
} as unknown as Registry

const text = `[network]
buffer = "150KB"
[[traffic]]
kind = "background"
[[traffic]]
kind = "incast"
name = "servers"
senders = 3000
bytes-total = "1MB"
`
const document = read(text)
const knobs = (schemes: string[], source = text) => knobsOf(registry, read(source), schemes)
const find = (id: string, schemes: string[] = []) => knobs(schemes).find((each) => each.id === id)

test('Senders and bytes are those of the first group whose servers answer at once', () => {
  expect(find('senders')).toMatchObject({
    value: 3000,
    name: 'traffic.servers.senders',
    paths: [['traffic', 1, 'senders']],
  })
  expect(find('bytes')).toMatchObject({ value: 1e6, label: 'Bytes together' })
})

test('A slider reaches the value of the file', () => {
  expect(find('senders')?.stops.at(-1)).toBe(3000)
})

test('A buffer in bytes stays one in bytes', () => {
  const buffer = find('buffer')
  expect(buffer).toMatchObject({ value: 150_000, dimension: 'bytes' })
  expect(buffer && valueAt(read(turn(text, buffer, 60_000)), ['network', 'buffer'])).toBe('60KB')
})

test('One knob turns the threshold of every chosen scheme that has one', () => {
  const threshold = find('threshold', ['newreno', 'dctcp', 'l2dct'])
  const turned = threshold && read(turn(text, threshold, 30))
  expect(turned && valueAt(turned, ['scheme', 'dctcp', 'mark-threshold'])).toBe('30pkt')
  expect(turned && valueAt(turned, ['scheme', 'l2dct', 'mark-threshold'])).toBe('30pkt')
  expect(find('threshold', ['newreno'])).toBeUndefined()
  expect(knobs([], text + '[queue]\nkind = "ecn-threshold"\n').find((each) => each.id === 'threshold')?.name).toBe(
    'queue.threshold',
  )
})

test('A default in bytes makes a slider of bytes', () => {
  const inEffect = (name: string) => ({ 'scheme.dctcp.mark-threshold': '60000B', 'network.buffer': '300KB' })[name]
  const [buffer, threshold] = ['buffer', 'threshold'].map((id) =>
    knobsOf(registry, read('[network]\n'), ['dctcp'], inEffect).find((each) => each.id === id),
  )
  expect(buffer?.dimension).toBe('bytes')
  expect(threshold?.dimension).toBe('bytes')
  expect(threshold && quantityOf(threshold, '60000B')?.value).toBe(60_000)
})

test('Whole numbers stand without quotes', () => {
  const senders = find('senders')
  expect(senders && turn(text, senders, 40)).toContain('senders = 40\n')
  expect(document.broken).toBe(false)
})

test('Stops are round, and every value has a nearest one', () => {
  expect(roundStops(1e3, 2e3)).toEqual([1000, 1200, 1500, 2000])
  expect(stopOf([1, 10, 100], 11)).toBe(1)
  expect(stopOf([1, 10, 100], 0)).toBe(0)
})

test('Under shared memory a port has no buffer to turn', () => {
  const document = read('[network]\nadmission = "dynamic-threshold"\nshared-buffer = "12MB"\n')
  const names = knobsOf(registry, document, ['dctcp']).map((each) => each.name)
  expect(names).toContain('network.shared-buffer')
  expect(names).not.toContain('network.buffer')
})
