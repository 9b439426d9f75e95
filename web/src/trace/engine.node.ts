/** The engine in Node, for tests of what is derived from real runs. */

import { existsSync, readFileSync } from 'node:fs'
import { load } from '../engine/wasm'
import type { Outcome, Topology } from '../engine/types'
import { outcomeOf, type Answer, type EngineRequest, type RunValue } from '../engine/wire'

const FILE = 'public/fanin.wasm'

/** Why it cannot run here; none if it can. */
export const missingEngine = existsSync(FILE) ? undefined : 'the engine is not built: make page'

export async function loadEngine() {
  const engine = await load(await WebAssembly.compile(readFileSync(FILE)))
  const ask = (op: EngineRequest['op'], toml: string, overrides: [string, string][]) => {
    const reply = engine.request(
      JSON.stringify({ op, scenario: { toml, name: 'test', overrides } } satisfies EngineRequest),
      () => undefined,
    )
    const answer = JSON.parse(reply.json) as Answer
    if ('error' in answer) throw new Error(JSON.stringify(answer.error))
    return { value: answer.value, columns: reply.columns }
  }
  return {
    topology: (toml: string) => ask('topology', toml, []).value as Topology,
    run: (toml: string, overrides: [string, string][]): Outcome => {
      const { value, columns } = ask('run', toml, overrides)
      return outcomeOf(value as RunValue, columns, 0)
    },
  }
}
