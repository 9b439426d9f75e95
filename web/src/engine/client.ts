/** The engine as the page sees it: a pool of workers, each with an instance of one compiled module. */

import type { Engine, Outcome, Preview, Registry, ResolvedValue, RunOptions, ScenarioRequest, Topology } from './types'
import { EngineError } from './types'
import { outcomeOf, type Answer, type EngineReply, type EngineRequest, type FromWorker, type RunValue } from './wire'

/** An instance that has grown beyond this is replaced after its run, as its memory never shrinks. */
const KEEP_BYTES = 256 * 1024 * 1024

interface Done {
  reply: EngineReply
  wallMs: number
}

interface Job {
  request: EngineRequest
  options: RunOptions
  resolve: (done: Done) => void
  reject: (error: Error) => void
}

/** Fetched and compiled once: workers share the machine code. */
let compiled: Promise<WebAssembly.Module> | undefined

async function compile(): Promise<WebAssembly.Module> {
  const response = await fetch(new URL('fanin.wasm', document.baseURI))
  // A server that answers every path with the page itself has no engine either.
  if (!response.ok || response.headers.get('content-type')?.startsWith('text/html')) {
    throw new Error('the engine, fanin.wasm, is not beside the page: `make page` builds it')
  }
  return WebAssembly.compile(await response.arrayBuffer())
}

function aborted(): DOMException {
  return new DOMException('the run was cancelled', 'AbortError')
}

class Member {
  job: Job | undefined
  private readonly worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })

  constructor(
    module: WebAssembly.Module,
    private readonly ended: (member: Member, keep: boolean) => void,
  ) {
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      this.hear(data)
    }
    this.worker.onerror = (event) => {
      this.hear({ broken: event.message })
    }
    this.worker.postMessage({ module })
  }

  begin(job: Job): void {
    this.job = job
    this.worker.postMessage({ request: job.request })
  }

  terminate(): void {
    this.worker.terminate()
  }

  private hear(message: FromWorker): void {
    const { job } = this
    if ('progress' in message) {
      job?.options.progress?.(message.progress)
      return
    }
    this.job = undefined
    if ('broken' in message) {
      job?.reject(new EngineError({ message: message.broken }))
      this.ended(this, false)
    } else {
      job?.resolve(message)
      this.ended(this, message.memoryBytes <= KEEP_BYTES)
    }
  }
}

export class EnginePool implements Engine {
  private members: Member[] = []
  private waiting: Job[] = []
  private disposed = false

  constructor(private readonly size = cores()) {}

  version(): Promise<string> {
    return this.ask({ op: 'version' })
  }

  registry(): Promise<Registry> {
    return this.ask({ op: 'registry' })
  }

  schema(): Promise<unknown> {
    return this.ask({ op: 'schema' })
  }

  check(scenario: ScenarioRequest, signal?: AbortSignal): Promise<Preview> {
    return this.ask({ op: 'check', scenario }, signal && { signal })
  }

  topology(scenario: ScenarioRequest): Promise<Topology> {
    return this.ask({ op: 'topology', scenario })
  }

  resolved(scenario: ScenarioRequest): Promise<ResolvedValue[]> {
    return this.ask({ op: 'resolved', scenario })
  }

  async run(scenario: ScenarioRequest, options: RunOptions = {}): Promise<Outcome> {
    const { reply, wallMs } = await this.enqueue({ op: 'run', scenario }, options)
    return outcomeOf(valueOf(reply) as RunValue, reply.columns, wallMs)
  }

  /** Ends all workers and rejects what waits. */
  dispose(): void {
    this.disposed = true
    for (const member of this.members) {
      member.terminate()
      member.job?.reject(aborted())
    }
    for (const job of this.waiting) job.reject(aborted())
    this.members = []
    this.waiting = []
  }

  private async ask<T>(request: EngineRequest, options: RunOptions = {}): Promise<T> {
    return valueOf((await this.enqueue(request, options)).reply) as T
  }

  private async enqueue(request: EngineRequest, options: RunOptions): Promise<Done> {
    const module = await (compiled ??= compile())
    if (this.disposed || options.signal?.aborted) throw aborted()
    return new Promise<Done>((resolve, reject) => {
      const job: Job = { request, options, resolve, reject }
      options.signal?.addEventListener('abort', () => {
        this.cancel(job, module)
      })
      this.waiting.push(job)
      this.dispatch(module)
    })
  }

  private dispatch(module: WebAssembly.Module): void {
    if (this.disposed) return
    let free = this.members.filter((member) => !member.job)
    for (let job = this.waiting[0]; job; job = this.waiting[0]) {
      const member = free[0] ?? (this.members.length < this.size ? this.add(module) : undefined)
      if (!member) return
      free = free.slice(1)
      this.waiting.shift()
      member.begin(job)
    }
  }

  private add(module: WebAssembly.Module): Member {
    const member = new Member(module, (ended, keep) => {
      if (!keep) this.remove(ended)
      this.dispatch(module)
    })
    this.members.push(member)
    return member
  }

  private remove(member: Member): void {
    member.terminate()
    this.members = this.members.filter((other) => other !== member)
  }

  private cancel(job: Job, module: WebAssembly.Module): void {
    job.reject(aborted())
    this.waiting = this.waiting.filter((other) => other !== job)
    const running = this.members.find((member) => member.job === job)
    if (!running) return
    this.remove(running)
    // Its successor loads while the visitor thinks.
    if (!this.disposed) this.add(module)
    this.dispatch(module)
  }
}

function valueOf(reply: EngineReply): unknown {
  const answer = JSON.parse(reply.json) as Answer
  if ('error' in answer) throw new EngineError(answer.error)
  return answer.value
}

export function cores(): number {
  return Math.min(Math.max(navigator.hardwareConcurrency, 1), 16)
}

/** The pool that all views share; a sweep has its own. One more worker than needed, so that a check never waits for a run. */
export const engine = new EnginePool(Math.max(cores(), 2))

/** Fetches and compiles the engine before somebody asks for it. What goes wrong is told to whoever asks. */
export function warm(): void {
  compiled ??= compile()
  compiled.catch(() => undefined)
}

let known: Promise<Registry> | undefined

/** The registry, asked for once. */
export function registry(): Promise<Registry> {
  return (known ??= engine.registry())
}
