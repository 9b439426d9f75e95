import { expect, test } from 'vitest'
import { decode, encode } from './address'

const toml = 'title = "Ümlaute, 漢字"\n'.repeat(50)

test('An address gives back exactly the scenario that it was made from', async () => {
  const scenario = { toml, schemes: ['newreno', 'dctcp'] }
  expect(await decode(await encode(scenario))).toEqual(scenario)
})

test('An address has only letters that need no escape, and is shorter than the text', async () => {
  const text = await encode({ toml, schemes: [] })
  expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
  expect(text.length).toBeLessThan(toml.length)
})

test('An address that was cut is refused', async () => {
  const text = await encode({ toml, schemes: [] })
  await expect(decode(text.slice(0, -8))).rejects.toThrow('no complete scenario')
  await expect(decode('%%%')).rejects.toThrow('no complete scenario')
})

test('An address that grows without end is refused', async () => {
  const text = await encode({ toml: 'a'.repeat(5_000_000), schemes: [] })
  await expect(decode(text)).rejects.toThrow('no complete scenario')
})
