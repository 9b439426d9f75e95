/** Learn: incast in eight steps, each with a run in the page. */

import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Latest } from '../../engine/latest'
import { open } from '../../scenario/current'
import { useParams, type Change } from '../../scenario/params'
import { useStore } from '../../ui/store'
import { Controls } from './controls'
import { show, type Shown } from './course'
import { Lanes } from './lanes'
import { Queue } from './queue'
import { Results } from './results'
import { valuesIn, type Step, type Values } from './step'
import { steps } from './steps'
import './learn.css'

export default function Learn() {
  const [params, change] = useParams()
  const found = steps.findIndex(({ id }) => id === params.get('step'))
  const index = Math.max(found, 0)
  const step = steps[index] ?? steps[0]
  const go = (next: number) => {
    const to = steps[next]
    const left = step.controls.map(({ key }): [string, string] => [key, ''])
    if (to) change({ ...Object.fromEntries(left), step: to.id })
  }
  return (
    <div class="learn">
      <h1>Incast in eight steps</h1>
      <Steps index={index} go={go} />
      <StepView
        key={step.id}
        step={step}
        index={index}
        values={valuesIn(step, params)}
        change={change}
        go={go}
        asked={found >= 0}
      />
    </div>
  )
}

interface StepsProps {
  index: number
  go: (index: number) => void
}

function Steps({ index, go }: StepsProps) {
  return (
    <nav aria-label="Steps">
      <ol class="learn-steps">
        {steps.map(({ id, title }, at) => (
          <li key={id}>
            <button
              type="button"
              class="chip"
              aria-current={at === index ? 'step' : undefined}
              onClick={() => {
                go(at)
              }}
            >
              <span class="learn-number">{at + 1}</span> <span class="learn-name">{title}</span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  )
}

interface StepProps extends StepsProps {
  step: Step
  values: Values
  change: Change
  /** Whether somebody went to this step, and did not just open the view. */
  asked: boolean
}

function StepView({ step, index, values, change, go, asked }: StepProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const latest = useMemo(() => new Latest<Pick<Shown, 'step' | 'values'>, Shown>(show), [])
  const { busy, result, error } = useStore(latest.state)
  const wanted = JSON.stringify(values)
  useEffect(() => {
    latest.ask({ step, values: JSON.parse(wanted) as Values })
  }, [latest, step, wanted])
  useEffect(() => {
    if (asked) heading.current?.focus()
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only when the step opens
  }, [])
  return (
    <article class="learn-step" aria-busy={busy}>
      <div class="learn-words">
        <h2 ref={heading} tabIndex={-1}>{`${index + 1}. ${step.title}`}</h2>
        {step.text.map((paragraph) => (
          <p key={paragraph}>{paragraph}</p>
        ))}
        <p class="learn-try">
          <strong>Try it: </strong>
          {step.attempt}
        </p>
        <Controls step={step} values={values} change={change} />
      </div>
      <div class="learn-picture">
        {error && (
          <p class="note bad" role="alert">
            {error.message}
          </p>
        )}
        <PictureOf shown={result} step={step} values={values} />
        <Results step={step} runs={result?.runs ?? []} contenders={step.contenders(values)} />
        <Conclusion step={step} shown={result} />
      </div>
      <Found step={step} />
      <Onward step={step} index={index} values={values} go={go} />
    </article>
  )
}

function PictureOf({ shown, step, values }: { shown: Shown | undefined; step: Step; values: Values }) {
  const contenders = useMemo(() => step.contenders(values), [step, values])
  const runs = shown?.runs ?? NONE
  if (step.picture.kind === 'lanes') return <Lanes runs={runs} pictures={contenders} what={step.waitsFor.one} />
  return <Queue runs={runs} contenders={contenders} limits={step.picture.limits(shown?.values ?? values)} />
}

const NONE: Shown['runs'] = []

/** The only words that depend on the runs. */
function Conclusion({ step, shown }: { step: Step; shown: Shown | undefined }) {
  const sentences = shown
    ? step.says(
        shown.runs.map(({ facts }) => facts),
        shown.values,
      )
    : ['The engine runs the first simulation…']
  return (
    <div class="learn-says" role="status">
      {sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </div>
  )
}

function Found({ step: { found } }: { step: Step }) {
  if (!found) return null
  return (
    <p class="note learn-found">
      <strong>What we found: </strong>
      {found.text} <a href={`#/papers?paper=${found.paper}`}>Its sentences, one by one</a>
    </p>
  )
}

interface OnwardProps extends StepsProps {
  step: Step
  values: Values
}

const VIEWS = ['Play', 'Watch', 'Lanes']

function Onward({ step, index, values, go }: OnwardProps) {
  const schemes = [...new Set(step.contenders(values).map(({ scheme }) => scheme))]
  const next = steps[index + 1]
  return (
    <div class="learn-onward">
      <div class="row" role="group" aria-label="Open this scenario">
        <span class="soft">Open this scenario in</span>
        {VIEWS.map((view) => (
          <button
            key={view}
            type="button"
            onClick={() => {
              open({ toml: step.toml(values), schemes }, view.toLowerCase())
            }}
          >
            {view}
          </button>
        ))}
      </div>
      <div class="row">
        <button
          type="button"
          disabled={index === 0}
          onClick={() => {
            go(index - 1)
          }}
        >
          Back
        </button>
        {next ? (
          <button
            type="button"
            class="primary"
            onClick={() => {
              go(index + 1)
            }}
          >
            {`Next: ${next.title}`}
          </button>
        ) : (
          <a href="#/papers?tab=ranking">All systems on the same work</a>
        )}
      </div>
    </div>
  )
}
