import { expect, test } from 'vitest'
import { read } from '../scenario/toml'
import { admit, admitSweep, estimate, Refused } from './limits'
import type { Preview } from './types'

const group = { name: 'a', flows: 80, at_once: 80, mean_bytes: 64000, offered: null }
const preview: Preview = { hosts: 9, switches: 1, ports: 9, buffered: 900, groups: [group] }
const empty = read('')

test('Every packet and its acknowledgement cross every link of the path', () => {
  // The engine counts 14,392: a handful of acknowledgements is missing there.
  expect(estimate(preview, empty).hops).toBe(80 * 44 * 4)
})

test('A group that offers a load has as many transfers as fit into the run', () => {
  const poisson = { name: 'p', flows: null, at_once: null, mean_bytes: 1e6, offered: 8e8 }
  const hops = estimate({ ...preview, groups: [poisson] }, read('[run]\nduration = "10s"\n')).hops
  expect(hops).toBe(1000 * 685 * 4)
})

test('A run with nothing but endless transfers keeps its link full until its end', () => {
  const endless = { name: 'b', flows: 2, at_once: 2, mean_bytes: 0, offered: null }
  const text = '[network]\nrate = "10Gbps"\n[transport]\nmss = "1250B"\n[run]\nduration = "2s"\n'
  expect(estimate({ ...preview, groups: [endless] }, read(text)).hops).toBe(2e6 * 4)
  expect(estimate({ ...preview, groups: [group, endless] }, read(text))).toMatchObject({
    hops: 80 * 52 * 4,
    mostHops: 2e6 * 4,
  })
})

test('A run that is too long or too large is refused with its reason', () => {
  expect(() => {
    admit({ hops: 1e9, bytes: 0 })
  }).toThrow(/1,000,000,000 packet hops/)
  expect(() => {
    admit({ hops: 0, bytes: 5e9 })
  }).toThrow(Refused)
  expect(() => {
    admit(estimate(preview, empty))
  }).not.toThrow()
})

test('A sweep is refused for what all its runs need together', () => {
  const small = { hops: 1e6, flows: 1000 }
  const many = (count: number) => () => {
    admitSweep(Array<typeof small>(count).fill(small))
  }
  expect(many(900)).not.toThrow()
  expect(many(1100)).toThrow(/1,100,000,000 packet hops.*fanin sweep/)
  expect(() => {
    admitSweep([{ hops: 1, flows: 2e7 }])
  }).toThrow(/20,000,000 transfers/)
})
