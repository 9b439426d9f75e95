/** A value that several parts of the page share. */

import { useEffect, useState } from 'preact/hooks'

export class Store<T> {
  private listeners = new Set<(value: T) => void>()

  constructor(private value: T) {}

  get(): T {
    return this.value
  }

  set(value: T): void {
    if (value === this.value) return
    this.value = value
    for (const listener of this.listeners) listener(value)
  }

  subscribe(listener: (value: T) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}

/** The store's value; the component is drawn anew when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, redraw] = useState(0)
  useEffect(
    () =>
      store.subscribe(() => {
        redraw((count) => count + 1)
      }),
    [store],
  )
  return store.get()
}

export type Loaded<T> = { state: 'waiting' } | { state: 'ready'; value: T } | { state: 'failed'; error: Error }

/** What a promise becomes. The promise is made once for each list of inputs. */
export function useLoaded<T>(make: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'waiting' })
  useEffect(() => {
    let wanted = true
    setLoaded({ state: 'waiting' })
    make().then(
      (value) => {
        if (wanted) setLoaded({ state: 'ready', value })
      },
      (error: unknown) => {
        if (wanted) setLoaded({ state: 'failed', error: error instanceof Error ? error : new Error(String(error)) })
      },
    )
    return () => {
      wanted = false
    }
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the caller lists what `make` depends on
  }, inputs)
  return loaded
}
