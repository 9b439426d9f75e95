/** Loads the engine, and speaks with its exports. Nothing else knows them. */

import type { EngineReply } from './wire'

export interface LoadedEngine {
  /** Answers an `EngineRequest` given as JSON. `progress` hears the share of a run that is done. */
  request(json: string, progress: (share: number) => void): EngineReply
  /** Size of the module's memory, which never shrinks. */
  memoryBytes(): number
}

/** What `crates/wasm` exports. Addresses and lengths are in bytes, but for numbers, which are counted. */
interface Exports {
  memory: WebAssembly.Memory
  fanin_reserve(bytes: number): number
  fanin_answer(): void
  fanin_json(): number
  fanin_json_bytes(): number
  fanin_numbers(): number
  fanin_numbers_count(): number
}

/** As much of an answer as says where its columns are among the numbers. */
interface Placed {
  value?: { tables?: { rows: number; columns: { at: number }[] }[] }
}

export async function load(module: WebAssembly.Module): Promise<LoadedEngine> {
  let hear: (share: number) => void = () => undefined
  const host = {
    progress: (share: number): number => {
      hear(share)
      return 1
    },
  }
  const instance = await WebAssembly.instantiate(module, { host })
  const engine = instance.exports as unknown as Exports
  const text = (): string =>
    new TextDecoder().decode(new Uint8Array(engine.memory.buffer, engine.fanin_json(), engine.fanin_json_bytes()))
  return {
    request(json, progress) {
      const bytes = new TextEncoder().encode(json)
      // Asked first: the memory may grow, and then has another buffer.
      const at = engine.fanin_reserve(bytes.length)
      new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes)
      hear = progress
      try {
        engine.fanin_answer()
      } catch (error) {
        throw whyItTrapped(error, text())
      }
      return { json: text(), columns: columns(engine, text()) }
    },
    memoryBytes: () => engine.memory.buffer.byteLength,
  }
}

/** Copies of the columns, in the order of tables: the memory itself is overwritten by the next answer. */
function columns(engine: Exports, json: string): Float64Array[] {
  const count = engine.fanin_numbers_count()
  if (count === 0) return []
  const numbers = new Float64Array(engine.memory.buffer, engine.fanin_numbers(), count)
  const tables = (JSON.parse(json) as Placed).value?.tables ?? []
  return tables.flatMap(({ rows, columns }) => columns.map(({ at }) => numbers.slice(at, at + rows)))
}

/** A panic leaves its message; without one the module has most likely reached the end of its memory. */
function whyItTrapped(error: unknown, json: string): Error {
  const said = json.includes('"kind":"panic"') ? (JSON.parse(json) as { error: { message: string } }).error.message : ''
  const cause = said === '' ? 'the run needs more memory than the page gives it' : `a defect of the engine: ${said}`
  return new Error(cause, { cause: error })
}
