/** Learn: incast in eight steps, each with a run in the page. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Latest } from '../../engine/latest'
import type { Outcome } from '../../engine/types'
import { open, routeOf } from '../../scenario/current'
import { useStore } from '../../ui/store'
import { Controls } from './controls'
import { Lanes } from './lanes'
import { Costs, Queue, Sweep, type Curve } from './pictures'
import { outcomeOf, queryOf } from './runs'
import { TIMERS, type Values } from './scenario'
import { PAPERS, steps, sweepOf, tomlOf, type Step } from './steps'
import './learn.css'

interface Wanted {
  step: Step
  values: Values
}

interface Shown extends Wanted {
  runs: { scheme: string; outcome: Outcome }[]
  curves: Curve[]
}

export default function Learn() {
  const [index, setIndex] = useStep()
  const step = steps[index] ?? steps[0]
  if (!step) return null
  return (
    <div class="learn">
      <h1>Incast in eight steps</h1>
      <nav aria-label="Steps">
        <ol class="learn-steps">
          {steps.map((each, at) => (
            <li key={each.title}>
              <button
                type="button"
                class="chip"
                aria-current={at === index ? 'step' : undefined}
                aria-label={`Step ${at + 1}: ${each.title}`}
                title={each.title}
                onClick={() => {
                  setIndex(at)
                }}
              >
                {at + 1}
              </button>
            </li>
          ))}
        </ol>
      </nav>
      <StepView key={index} step={step} index={index} go={setIndex} />
    </div>
  )
}

/** The step is in the address, beside the scenario of the other views. */
function useStep(): [number, (index: number) => void] {
  const read = () => {
    const asked = Number(routeOf(location.hash).params.get('step'))
    return Number.isInteger(asked) && asked >= 1 && asked <= steps.length ? asked - 1 : 0
  }
  const [index, setIndex] = useState(read)
  useEffect(() => {
    const follow = () => {
      setIndex(read())
    }
    addEventListener('hashchange', follow)
    return () => {
      removeEventListener('hashchange', follow)
    }
  }, [])
  const go = (next: number) => {
    const { view, params } = routeOf(location.hash)
    params.set('step', String(next + 1))
    history.replaceState(null, '', `#/${view}?${params.toString()}`)
    setIndex(next)
  }
  return [index, go]
}

async function work({ step, values }: Wanted): Promise<Shown> {
  const toml = tomlOf(step, values)
  const recorded = step.picture === 'lanes' || step.picture === 'queue'
  const schemes = step.schemes(values)
  const runs = await Promise.all(
    schemes.map(async (scheme, at) => ({
      scheme,
      outcome: await outcomeOf({ toml, scheme, recorded: recorded && (at === 0 || step.picture === 'queue') }),
    })),
  )
  return { step, values, runs, curves: step.picture === 'sweep' ? await curvesOf(step, values) : [] }
}

function curvesOf(step: Step, values: Values): Promise<Curve[]> {
  const curve = async (scheme: string, label: string, of: Values, reference: boolean): Promise<Curve> => {
    const jobs = sweepOf(step, of).map((toml) => ({ toml, scheme, recorded: false }))
    return { scheme, label, reference, outcomes: await Promise.all(jobs.map(outcomeOf)) }
  }
  if (!step.controls.includes('timer')) {
    return Promise.all(step.schemes(values).map((scheme) => curve(scheme, scheme, values, false)))
  }
  const usual = TIMERS.at(-1) ?? values.timer
  return Promise.all(
    step
      .schemes(values)
      .flatMap((scheme) => [
        curve(scheme, 'your timer', values, false),
        curve(scheme, `timer ${usual}`, { ...values, timer: usual }, true),
      ]),
  )
}

interface StepProps {
  step: Step
  index: number
  go: (index: number) => void
}

function StepView({ step, index, go }: StepProps) {
  const [values, setValues] = useState(step.start)
  const heading = useRef<HTMLHeadingElement>(null)
  const latest = useMemo(() => new Latest<Wanted, Shown>(work), [])
  const { result, error } = useStore(latest.state)
  useEffect(() => {
    latest.ask({ step, values })
  }, [latest, step, values])
  useEffect(() => {
    if (document.activeElement !== document.body) heading.current?.focus()
  }, [])
  const queries = result?.runs.map((run) => queryOf(run.outcome)) ?? []
  const paper = step.controls.includes('paper') ? PAPERS.find((each) => each.scheme === values.scheme) : undefined
  return (
    <article class="learn-step">
      <div class="learn-words">
        <h2 ref={heading} tabIndex={-1}>{`${index + 1}. ${step.title}`}</h2>
        {step.text.map((paragraph) => (
          <p key={paragraph}>{paragraph}</p>
        ))}
        <Controls step={step} values={values} change={setValues} />
        {paper && (
          <div class="learn-paper">
            <p>{paper.idea}</p>
            <p>
              <strong>What we found: </strong>
              {paper.finding}
            </p>
          </div>
        )}
        <p class="learn-try">
          <strong>Try: </strong>
          {step.attempt}
        </p>
      </div>
      <div class="learn-picture">
        {error && (
          <p class="note bad" role="alert">
            {error.message}
          </p>
        )}
        <p class="learn-says" role="status">
          {result ? step.says(queries, result.values) : 'The engine runs the first simulation…'}
        </p>
        <PictureOf shown={result} step={step} />
        <p class="row">
          <button
            type="button"
            onClick={() => {
              open({ toml: tomlOf(step, values), schemes: step.schemes(values).slice(0, 6) })
            }}
          >
            Open in Play
          </button>
          <span class="soft small">This very scenario, with everything to change.</span>
        </p>
      </div>
      <p class="row learn-go">
        <button
          type="button"
          disabled={index === 0}
          onClick={() => {
            go(index - 1)
          }}
        >
          Back
        </button>
        {index + 1 < steps.length ? (
          <button
            type="button"
            class="primary"
            onClick={() => {
              go(index + 1)
            }}
          >
            {`Next: ${steps[index + 1]?.title ?? ''}`}
          </button>
        ) : (
          <a href="#/papers?tab=ranking">All systems on the same work</a>
        )}
      </p>
    </article>
  )
}

function PictureOf({ shown, step }: { shown: Shown | undefined; step: Step }) {
  const [first] = shown?.runs ?? []
  switch (step.picture) {
    case 'lanes':
      return <Lanes outcome={first?.outcome} scheme={first?.scheme ?? step.schemes(step.start)[0] ?? ''} />
    case 'queue':
      return <Queue runs={shown?.runs ?? []} />
    case 'sweep':
      return <Sweep curves={shown?.curves ?? []} senders={(shown?.values ?? step.start).senders} />
    case 'table':
      return <Costs runs={shown?.runs ?? []} />
  }
}
