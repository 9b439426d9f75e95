/** Loads the engine, and speaks with its exports. Nothing else knows them. */

import type { EngineReply } from './wire'

export interface LoadedEngine {
  /** Answers an `EngineRequest` given as JSON. `progress` hears the share of a run that is done. */
  request(json: string, progress: (share: number) => void): EngineReply
  /** Size of the module's memory, which never shrinks. */
  memoryBytes(): number
}

export async function load(module: WebAssembly.Module): Promise<LoadedEngine> {
  await WebAssembly.instantiate(module, {})
  throw new Error('the engine has no exports that this page knows')
}
