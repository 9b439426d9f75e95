/** One worker: loads the engine once, then answers one request at a time. */

import { load, type LoadedEngine } from './wasm'
import type { EngineRequest, FromWorker, ToWorker } from './wire'

const scope = self as unknown as DedicatedWorkerGlobalScope

let engine: Promise<LoadedEngine> | undefined

function send(message: FromWorker, transfer: Transferable[] = []): void {
  scope.postMessage(message, transfer)
}

async function answer(request: EngineRequest): Promise<void> {
  if (!engine) throw new Error('asked before the engine was loaded')
  const loaded = await engine
  const began = performance.now()
  const reply = loaded.request(JSON.stringify(request), (share) => {
    send({ progress: share })
  })
  const wallMs = performance.now() - began
  send(
    { reply, wallMs, memoryBytes: loaded.memoryBytes() },
    reply.columns.map((values) => values.buffer),
  )
}

scope.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  const work = 'module' in data ? (engine = load(data.module)) : answer(data.request)
  work.catch((error: unknown) => {
    send({ broken: error instanceof Error ? error.message : String(error) })
  })
}
