/** Play: a scenario, its knobs, and several schemes that run it side by side. */

import { useEffect } from 'preact/hooks'
import { registry } from '../../engine/client'
import { schemesOf } from '../../engine/simulate'
import { EngineError, type Registry } from '../../engine/types'
import { MOST_SCHEMES, type Scenario } from '../../scenario/address'
import { current } from '../../scenario/current'
import { read, valueAt } from '../../scenario/toml'
import { Presets } from '../../ui/presets'
import { Schemes } from '../../ui/schemes'
import { useLoaded, useStore } from '../../ui/store'
import { Editor } from './editor'
import { Form } from './form'
import { Knobs } from './knobs'
import { Results } from './results'
import { effective, runs } from './session'
import { Toolbar } from './toolbar'
import './play.css'

export default function Play() {
  const loaded = useLoaded(registry, [])
  return (
    <>
      <h1 class="visually-hidden">Play</h1>
      {loaded.state === 'failed' && (
        <p class="note bad" role="alert">
          {loaded.error.message}
        </p>
      )}
      <Bench registry={loaded.state === 'ready' ? loaded.value : undefined} />
    </>
  )
}

function change(part: Partial<Scenario>): void {
  current.set({ ...current.get(), ...part })
}

/** A scheme that is written into the text is run first: who writes one wants to see it. */
function changeText(toml: string): void {
  const { toml: before, schemes } = current.get()
  const path = ['transport', 'scheme']
  const [old, written] = [before, toml].map((text) => valueAt(read(text), path))
  if (typeof written !== 'string' || written === old || schemes.includes(written)) change({ toml })
  else change({ toml, schemes: [written, ...schemes].slice(0, MOST_SCHEMES) })
}

/** Defaults follow at rest: they are not what one looks at while a slider moves. */
const REST_MS = 250

/** Runs whatever scenario is current, from the moment that the view opens. */
function useRuns(scenario: Scenario): void {
  useEffect(() => {
    runs.ask(scenario)
    const timer = setTimeout(() => {
      effective.ask(scenario)
    }, REST_MS)
    return () => {
      clearTimeout(timer)
    }
  }, [scenario])
  useEffect(
    () => () => {
      runs.cancel()
    },
    [],
  )
}

function Bench({ registry: known }: { registry: Registry | undefined }) {
  const scenario = useStore(current)
  const { error } = useStore(runs.state)
  const { result: values } = useStore(effective.state)
  useRuns(scenario)
  const complaint = error instanceof EngineError ? error : undefined
  const { toml } = scenario
  const schemes = schemesOf(scenario)
  return (
    <div class="play">
      <div class="play-controls">
        <Presets />
        <Schemes
          registry={known}
          chosen={schemes}
          choose={(next) => {
            change({ schemes: next })
          }}
        />
        <Knobs registry={known} toml={toml} schemes={schemes} values={values} change={changeText} />
        <Toolbar toml={toml} change={changeText} />
      </div>
      <Results registry={known} scenario={scenario} />
      <section class="play-scenario" aria-label="Scenario">
        <Form
          registry={known}
          toml={toml}
          schemes={schemes}
          values={values}
          complaint={complaint}
          change={changeText}
        />
        <Editor toml={toml} complaint={complaint} change={changeText} />
      </section>
    </div>
  )
}
