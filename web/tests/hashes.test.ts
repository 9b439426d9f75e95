/** Chromium gives every scheme the same result as Node; that Node gives the same as the command line, Python tests. */

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { load, type LoadedEngine } from '../src/engine/wasm'
import type { Registry } from '../src/engine/types'
import { missing, openPage, openSite, type Site } from './browser'

const scenario = (scheme: string) => `
[network]
topology = "two-switch"
buffer = "60KB"
[transport]
scheme = "${scheme}"
rto-min = "5ms"
[[traffic]]
kind = "incast"
senders = 24
bytes-each = "40KB"
rounds = 2
[run]
seed = 3
`

interface Exports {
  memory: WebAssembly.Memory
  fanin_reserve(bytes: number): number
  fanin_answer(): void
  fanin_json(): number
  fanin_json_bytes(): number
}

/** Runs in Chromium, so it takes nothing from around it. */
async function inBrowser(requests: string[]): Promise<string[]> {
  const module = await WebAssembly.compile(await (await fetch('fanin.wasm')).arrayBuffer())
  const instance = await WebAssembly.instantiate(module, { host: { progress: () => 1 } })
  const engine = instance.exports as unknown as Exports
  return requests.map((request) => {
    const bytes = new TextEncoder().encode(request)
    const at = engine.fanin_reserve(bytes.length)
    new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes)
    engine.fanin_answer()
    return new TextDecoder().decode(
      new Uint8Array(engine.memory.buffer, engine.fanin_json(), engine.fanin_json_bytes()),
    )
  })
}

const hash = (json: string) =>
  (JSON.parse(json) as { value: { summary: { result_hash: string } } }).value.summary.result_hash

describe.skipIf(missing() !== undefined)('The engine', { timeout: 60_000 }, () => {
  let site: Site
  let engine: LoadedEngine
  beforeAll(async () => {
    site = await openSite()
    engine = await load(await WebAssembly.compile(readFileSync('dist/fanin.wasm')))
  }, 60_000)
  afterAll(() => site.close())

  test('gives the same hash in Chromium and in Node, for every scheme', async () => {
    const ask = (request: object) => engine.request(JSON.stringify(request), () => undefined).json
    const registry = (JSON.parse(ask({ op: 'registry' })) as { value: Registry }).value
    const requests = registry.schemes.map(({ key }) => ({
      op: 'run',
      scenario: { toml: scenario(key), name: 'a.toml', overrides: [] },
    }))
    const { page } = await openPage(site, '')
    const there = await page.evaluate(
      inBrowser,
      requests.map((request) => JSON.stringify(request)),
    )
    expect(requests.length).toBeGreaterThanOrEqual(14)
    expect(there.map(hash)).toEqual(requests.map((request) => hash(ask(request))))
    // Schemes differ, so the hashes compared are of different runs.
    expect(new Set(there.map(hash)).size).toBeGreaterThan(requests.length / 2)
    await page.close()
  })
})
