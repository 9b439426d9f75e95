/** One sentence: its verdict, its figure with the published numbers, and its cases. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { experiment, type Brief, type Case, type Experiment, type Papers, type Sentence } from '../../data/papers'
import { open } from '../../scenario/current'
import { useLoaded } from '../../ui/store'
import { FigureView } from './figure'
import { Verdict } from './verdict'

const FIRST_CASES = 3

interface Props {
  brief: Brief
  papers: Papers
  close: () => void
}

export function Detail({ brief, papers, close }: Props) {
  const loaded = useLoaded(() => experiment(brief.experiment), [brief.experiment])
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    heading.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  const word = papers.verdicts.find((each) => each.name === brief.verdict)
  return (
    <article class="papers-sentence">
      <button type="button" class="papers-back" onClick={close}>
        Back to the list
      </button>
      <h2 ref={heading} tabIndex={-1}>
        {brief.says}
      </h2>
      <p>
        <Verdict words={papers.verdicts} name={brief.verdict} edge={brief.edge} />{' '}
        <span class="soft">{`${brief.paper}, ${brief.figure}: ${word?.meaning ?? ''}`}</span>
      </p>
      {brief.late && (
        <p class="soft small">This rests on a case that was written when results were known, so it is weaker.</p>
      )}
      {loaded.state === 'waiting' && <p class="soft papers-waiting">Loading…</p>}
      {loaded.state === 'failed' && (
        <p class="note bad" role="alert">
          {loaded.error.message}
        </p>
      )}
      {loaded.state === 'ready' && <Evidence brief={brief} papers={papers} found={loaded.value} />}
    </article>
  )
}

interface EvidenceProps {
  brief: Brief
  papers: Papers
  found: Experiment
}

function Evidence({ brief, papers, found }: EvidenceProps) {
  const sentence = found.sentences.find((each) => each.id === brief.id)
  if (!sentence) return null
  const decisive = sentence.cases[sentence.decides]
  return (
    <>
      {sentence.rests_on && (
        <p>
          <strong>{brief.verdict === 'cannot be' ? 'Why: ' : 'Rests on: '}</strong>
          {sentence.rests_on}
        </p>
      )}
      {decisive && <Numbers decisive={decisive} />}
      <PlayButton sentence={sentence} found={found} />
      <Figures found={found} first={sentence.figure} />
      <Cases sentence={sentence} papers={papers} />
      <details>
        <summary>How it was run</summary>
        <p class="papers-description">{found.description}</p>
        <p class="small">
          <code>{found.command}</code>
          <span class="soft">{` makes these numbers anew: ${found.runs} runs, seeds ${found.seeds}, engine ${found.engine}.`}</span>
        </p>
      </details>
    </>
  )
}

function Numbers({ decisive }: { decisive: Case }) {
  const rows: [string, string][] = [
    ['The paper', decisive.published],
    ['Here', decisive.ours],
    ['95 % interval', decisive.interval],
    ['Accepted', decisive.accept],
  ]
  return (
    <>
      <dl class="papers-numbers">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt class="label">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="soft small">{`${decisive.quantity}. Case: ${decisive.reading || "the experiment's own values"}.`}</p>
    </>
  )
}

function PlayButton({ sentence, found }: { sentence: Sentence; found: Experiment }) {
  const scenario = sentence.scenario === null ? undefined : found.scenarios[sentence.scenario]
  if (!scenario) {
    return (
      <p class="note">
        {found.scenarios.length > 0 || found.runs > 0
          ? 'Its runs are too large for a page, or read other files: '
          : 'Nothing was simulated for it: '}
        <code>{found.command}</code>
      </p>
    )
  }
  return (
    <p class="row">
      <button
        type="button"
        class="primary"
        onClick={() => {
          open({ toml: scenario.toml, schemes: scenario.compare })
        }}
      >
        Open this in Play
      </button>
      <span class="soft small">{`One of its runs, with ${scenario.compare.join(', ')}: one seed, in your browser.`}</span>
    </p>
  )
}

function Figures({ found, first }: { found: Experiment; first: number | null }) {
  const [chosen, setChosen] = useState(first ?? 0)
  const figure = found.figures[chosen]
  if (!figure) return <p class="soft">The sentence has no figure with numbers.</p>
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

function Cases({ sentence, papers }: { sentence: Sentence; papers: Papers }) {
  const [all, setAll] = useState(false)
  const { cases } = sentence
  const hidden = all ? 0 : Math.max(cases.length - FIRST_CASES, 0)
  return (
    <section aria-label="Cases">
      <h3>{cases.length === 1 ? 'One setting was judged' : `${cases.length} settings were judged`}</h3>
      <ul class="papers-cases">
        {cases.slice(0, cases.length - hidden).map((each, index) => (
          <li key={index}>
            <p>
              <Verdict words={papers.outcomes} name={each.outcome} edge={each.edge} />{' '}
              {each.reading || "the experiment's own values"}
              {each.basis === 'sensitivity' && <span class="soft"> (contradicts the text; never counts)</span>}
            </p>
            <p class="small">{`${each.ours} (${each.interval}); accepted ${each.accept}`}</p>
            <p class="small soft">{each.reason}</p>
            {each.note && <p class="small soft">{each.note}</p>}
            {each.added && <p class="small soft">{`Added ${each.added}`}</p>}
          </li>
        ))}
      </ul>
      {hidden > 0 && (
        <button
          type="button"
          onClick={() => {
            setAll(true)
          }}
        >
          {`Show ${hidden} more`}
        </button>
      )}
      {sentence.tried > 0 && <p class="small soft">{`A search tried ${sentence.tried} further settings.`}</p>}
    </section>
  )
}
