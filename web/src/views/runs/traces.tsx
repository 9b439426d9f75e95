/** Watch and Lanes on a stored run: what it has recorded is shown as if it had just run. */

import type { ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import { readOutcome, readScenario, type RunDetail } from '../../data/served'
import { engine } from '../../engine/client'
import type { Recorded } from '../../trace/session'
import { useLoaded } from '../../ui/store'

/** What draws a stored run in place of the current scenario's. */
const VIEWS: Record<string, () => Promise<ComponentType<Recorded>>> = {
  Watch: () => import('../watch').then((module) => module.WatchStored),
  Lanes: () => import('../lanes').then((module) => module.LanesStored),
}

export function Traces({ run }: { run: RunDetail }) {
  const [view, setView] = useState('')
  if (run.tables.length === 0) return null
  return (
    <section aria-label="Traces">
      <div class="row run-actions">
        {Object.keys(VIEWS).map((name) => (
          <button
            key={name}
            type="button"
            aria-expanded={view === name}
            onClick={() => {
              setView(view === name ? '' : name)
            }}
          >
            {view === name ? `Close ${name}` : `Show in ${name}`}
          </button>
        ))}
      </div>
      {view !== '' && <Drawn key={view} run={run} view={view} />}
    </section>
  )
}

/** The engine in the page knows the network of the scenario, which results do not have. */
async function drawn(run: RunDetail, view: string) {
  const [outcome, toml, View] = await Promise.all([readOutcome(run), readScenario(run.run_id), VIEWS[view]?.()])
  const request = { toml, name: `${run.run_id}.toml`, overrides: [] }
  const [topology, values] = await Promise.all([engine.topology(request), engine.resolved(request)])
  return { recorded: { outcome, topology, values }, View }
}

function Drawn({ run, view }: { run: RunDetail; view: string }) {
  const loaded = useLoaded(() => drawn(run, view), [run, view])
  if (loaded.state === 'waiting') return <p class="soft">Reading the traces…</p>
  if (loaded.state === 'failed') {
    return (
      <p class="note bad" role="alert">
        {loaded.error.message}
      </p>
    )
  }
  const { View, recorded } = loaded.value
  if (!View) return null
  return (
    <>
      <h2>{view}</h2>
      <View {...recorded} />
    </>
  )
}
