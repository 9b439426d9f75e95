import { describe, expect, test } from 'vitest'
import { addToArray, countOf, keysBelow, lineOf, read, removeFromArray, removeValue, setValue, valueAt } from './toml'

const text = `# A network
[network]
topology = "star"   # one switch

[transport] # TCP
  rto-min = "200ms" # as RFC 6298 would not
queue = { kind = "red", red-min = 5 }
a.b = 3

[[traffic]]
kind = "incast"
senders = 8

[[traffic]]
kind = "background"
# the end
`

describe('reading', () => {
  test('Values have the path that the engine gives them, arrays of tables an index', () => {
    const document = read(text)
    expect(valueAt(document, ['network', 'topology'])).toBe('star')
    expect(valueAt(document, ['transport', 'queue', 'red-min'])).toBe(5)
    expect(valueAt(document, ['transport', 'a', 'b'])).toBe(3)
    expect(valueAt(document, ['traffic', 0, 'senders'])).toBe(8)
    expect(valueAt(document, ['traffic', 1, 'kind'])).toBe('background')
    expect(countOf(document, 'traffic')).toBe(2)
    expect(keysBelow(document, ['transport'])).toEqual(['rto-min', 'queue', 'a'])
  })

  test('Keys and tables know their lines', () => {
    const document = read(text)
    expect(lineOf(document, ['transport', 'rto-min'])).toBe(6)
    expect(lineOf(document, ['traffic', 1])).toBe(14)
  })

  test('What is no TOML is known as such', () => {
    expect(read('[network]\nrate = \n').broken).toBe(true)
  })
})

describe('changing', () => {
  const changed = (before: string, after: string) => text.replace(before, after)

  test('Another value leaves comments, order and spaces as they are', () => {
    expect(setValue(text, ['network', 'topology'], '"tree"')).toBe(changed('"star"', '"tree"'))
    expect(setValue(text, ['transport', 'queue', 'red-min'], '7')).toBe(changed('red-min = 5', 'red-min = 7'))
  })

  test('A new key comes after the last one of its table and its comment', () => {
    expect(setValue(text, ['network', 'rate'], '"1Gbps"')).toBe(changed('# one switch', '# one switch\nrate = "1Gbps"'))
    expect(setValue(text, ['traffic', 0, 'rounds'], '2')).toBe(changed('senders = 8', 'senders = 8\nrounds = 2'))
    expect(setValue(text, ['transport', 'queue', 'red-max'], '9')).toBe(
      changed('red-min = 5', 'red-min = 5, red-max = 9'),
    )
  })

  test('A new key of a table that has dotted keys becomes one of them', () => {
    expect(setValue(text, ['transport', 'a', 'c'], '4')).toBe(changed('a.b = 3', 'a.b = 3\na.c = 4'))
  })

  test('A table that is missing is added at the end', () => {
    expect(setValue(text, ['scheme', 'dctcp', 'g'], '0.1')).toBe(text + '\n[scheme.dctcp]\ng = 0.1\n')
    expect(setValue('', ['run', 'seed'], '2')).toBe('[run]\nseed = 2\n')
  })

  test('A key of the whole file comes before the first table', () => {
    const result = setValue(text, ['environment'], '"linux-6"')
    expect(result).toBe('# A network\nenvironment = "linux-6"\n' + text.slice('# A network\n'.length))
    expect(valueAt(read(result), ['environment'])).toBe('linux-6')
  })

  test('A key that is removed takes its line with it, or its place between commas', () => {
    expect(removeValue(text, ['traffic', 0, 'senders'])).toBe(changed('senders = 8\n', ''))
    expect(removeValue(text, ['transport', 'queue', 'kind'])).toBe(changed('kind = "red", ', ''))
    expect(removeValue(text, ['transport', 'queue', 'red-min'])).toBe(changed(', red-min = 5', ''))
    expect(removeValue(text, ['run', 'seed'])).toBe(text)
  })

  test('Groups are added after the others, and removed without what is around them', () => {
    const more = addToArray(text, 'traffic', ['kind = "poisson"'])
    expect(more).toBe(changed('"background"', '"background"\n\n[[traffic]]\nkind = "poisson"'))
    expect(removeFromArray(text, 'traffic', 0)).toBe(changed('[[traffic]]\nkind = "incast"\nsenders = 8\n\n', ''))
    expect(removeFromArray(more, 'traffic', 2)).toBe(text.replace('"background"\n', '"background"\n\n'))
  })

  test('A text that is no TOML is left alone', () => {
    expect(setValue('[network', ['run', 'seed'], '2')).toBe('[network')
  })
})
