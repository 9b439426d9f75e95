import { expect, test } from 'vitest'
import { digits, withUnit } from './numbers'

const plain = (text: string) => text.replaceAll('\u202f', ' ')

test('A number has the largest unit in which it is at least one', () => {
  expect(plain(withUnit(933968039.376, 'bit/s'))).toBe('934 Mbit/s')
  expect(plain(withUnit(0.0045078, 's'))).toBe('4.508 ms')
  expect(plain(withUnit(25e-6, 's'))).toBe('25 µs')
  expect(plain(withUnit(64000, 'B'))).toBe('64 KB')
  expect(plain(withUnit(0, 's'))).toBe('0 s')
  expect(plain(withUnit(0.125, '%'))).toBe('12.5 %')
  expect(plain(withUnit(0, '%'))).toBe('0 %')
})

test('What has no unit has none, and what is missing is a dash', () => {
  expect(withUnit(144000, '1')).toBe('144,000')
  expect(withUnit(null, 's')).toBe('–')
  expect(withUnit(NaN, 's')).toBe('–')
})

test('Whole digits are never rounded away', () => {
  expect(digits(123456.7)).toBe('123,457')
})
