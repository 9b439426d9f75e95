import { expect, test } from 'vitest'
import { parseQuantity, writeQuantity } from './quantity'

test('Quantities are read in their base units', () => {
  expect(parseQuantity('64KB')).toEqual({ value: 64000, dimension: 'bytes' })
  expect(parseQuantity('64KiB')).toEqual({ value: 65536, dimension: 'bytes' })
  expect(parseQuantity('1.5 ms')).toEqual({ value: 0.0015, dimension: 'time' })
  expect(parseQuantity('100pkt')).toEqual({ value: 100, dimension: 'packets' })
  expect(parseQuantity('10Gbps')).toEqual({ value: 1e10, dimension: 'rate' })
  expect(parseQuantity('1GBps')).toEqual({ value: 8e9, dimension: 'rate' })
  expect(parseQuantity('10Gbit/s')).toEqual({ value: 1e10, dimension: 'rate' })
  expect(parseQuantity('40')).toEqual({ value: 40, dimension: 'count' })
})

test('What is no single quantity is none', () => {
  for (const text of ['web-search', '1MB 50%, 4MB 50%', '5 parsecs', '-1s', '64Kb', '8bit', ''])
    expect(parseQuantity(text)).toBeUndefined()
})

test('Quantities are written as they are read', () => {
  for (const text of ['64KB', '200ms', '33us', '100pkt', '1Gbps', '2.5MB', '0B', '40', '1s']) {
    const quantity = parseQuantity(text)
    expect(quantity && writeQuantity(quantity)).toBe(text)
  }
})
