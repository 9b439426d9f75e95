/** What sentences and experiments have in common. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Experiment } from '../../data/papers'
import { useLoaded } from '../../ui/store'
import { FigureView } from './figure'

interface LoadingProps<T> {
  /** Loads what is shown, once for each name. */
  load: () => Promise<T>
  name: string
  shown: (value: T) => ComponentChildren
}

export function Loading<T>({ load, name, shown }: LoadingProps<T>) {
  const loaded = useLoaded(load, [name])
  if (loaded.state === 'waiting') return <p class="soft papers-waiting">Loading…</p>
  if (loaded.state === 'ready') return <>{shown(loaded.value)}</>
  return (
    <p class="note bad" role="alert">
      {loaded.error.message}
    </p>
  )
}

/** A command for the terminal, with what it is for. */
export function Command({ text, command }: { text: string; command: string }) {
  return (
    <p class="small papers-command">
      <span class="soft">{text}</span> <code>{command}</code>
    </p>
  )
}

export function Figures({ found, first }: { found: Experiment; first: number | null }) {
  const [chosen, setChosen] = useState(first ?? 0)
  const figure = found.figures[chosen]
  if (!figure) return <p class="soft">There is no figure with numbers.</p>
  return (
    <section aria-label="Figure">
      {found.figures.length > 1 && (
        <label>
          <span class="label">Figure</span>
          <select
            value={chosen}
            onChange={({ currentTarget }) => {
              setChosen(Number(currentTarget.value))
            }}
          >
            {found.figures.map((each, index) => (
              <option key={each.name} value={index}>
                {each.title}
              </option>
            ))}
          </select>
        </label>
      )}
      <FigureView key={figure.name} figure={figure} />
    </section>
  )
}
