/** Work of which only the latest input counts: what a slider asks for while it is dragged. */

import { Store } from '../ui/store'

export interface Progress<Result> {
  busy: boolean
  /** Share of the running work that is done. */
  share: number
  /** The last result, kept while the next one is worked on. */
  result: Result | undefined
  error: Error | undefined
  cancelled: boolean
}

type Work<Input, Result> = (input: Input, signal: AbortSignal, progress: (share: number) => void) => Promise<Result>

/**
 * Short work is finished even if a newer input waits, so that something is seen while a slider moves; what takes longer than
 * this is cancelled for it.
 */
const PATIENCE_MS = 250

export class Latest<Input, Result> {
  readonly state = new Store<Progress<Result>>({
    busy: false,
    share: 0,
    result: undefined,
    error: undefined,
    cancelled: false,
  })
  private running: { abort: AbortController; began: number } | undefined
  private next: { input: Input } | undefined
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly work: Work<Input, Result>) {}

  ask(input: Input): void {
    if (!this.running) {
      void this.start(input)
      return
    }
    this.next = { input }
    const left = PATIENCE_MS - (performance.now() - this.running.began)
    const { abort } = this.running
    clearTimeout(this.timer)
    this.timer = setTimeout(
      () => {
        abort.abort()
      },
      Math.max(left, 0),
    )
  }

  /** Ends the running work, and forgets what waits. */
  cancel(): void {
    this.next = undefined
    this.running?.abort.abort()
  }

  private async start(input: Input): Promise<void> {
    const abort = new AbortController()
    this.running = { abort, began: performance.now() }
    this.change({ busy: true, share: 0, cancelled: false })
    try {
      const result = await this.work(input, abort.signal, (share) => {
        if (!abort.signal.aborted) this.change({ share })
      })
      this.end({ result, error: undefined })
    } catch (error) {
      if (abort.signal.aborted) this.end({ cancelled: true })
      else this.end({ error: error instanceof Error ? error : new Error(String(error)) })
    }
  }

  private end(change: Partial<Progress<Result>>): void {
    const { next } = this
    clearTimeout(this.timer)
    this.running = undefined
    this.next = undefined
    this.change({ ...change, busy: next !== undefined })
    if (next) void this.start(next.input)
  }

  private change(change: Partial<Progress<Result>>): void {
    this.state.set({ ...this.state.get(), ...change })
  }
}
