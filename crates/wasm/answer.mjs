/**
 * Asks the engine for browsers in Node: reads requests from standard input, one JSON object per line, and prints one
 * answer per line, without the numbers of tables. The first argument is the WebAssembly module.
 */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const module = await WebAssembly.compile(readFileSync(process.argv[2]))
const { exports: engine } = await WebAssembly.instantiate(module, { host: { progress: () => 1 } })

for await (const line of createInterface({ input: process.stdin })) {
  const bytes = new TextEncoder().encode(line)
  const at = engine.fanin_reserve(bytes.length)
  new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes)
  engine.fanin_answer()
  const json = new Uint8Array(engine.memory.buffer, engine.fanin_json(), engine.fanin_json_bytes())
  console.log(new TextDecoder().decode(json))
}
