/** Watch and Lanes on a stored run: what it has recorded is shown as if it had just run. */

import type { ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import { readOutcome, readScenario, type RunDetail } from '../../data/served'
import { engine } from '../../engine/client'
import type { Outcome, Topology } from '../../engine/types'
import { useLoaded } from '../../ui/store'

/** What a view draws if it is given a run, in place of the current scenario's. */
interface Traced {
  outcome?: Outcome
  topology?: Topology
}

type Module = Promise<{ default: ComponentType<Traced> }>

const VIEWS: Record<string, () => Module> = {
  Watch: () => import('../watch'),
  Lanes: () => import('../lanes'),
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

async function drawn(run: RunDetail, view: string) {
  const [outcome, toml, module] = await Promise.all([readOutcome(run), readScenario(run.run_id), VIEWS[view]?.()])
  const topology = await engine.topology({ toml, name: `${run.run_id}.toml`, overrides: [] })
  return { outcome, topology, View: module?.default }
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
  const { View, outcome, topology } = loaded.value
  return View ? <View outcome={outcome} topology={topology} /> : null
}
