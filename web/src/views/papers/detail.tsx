/** One sentence: its verdict, its figure with the published numbers, and its cases. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { experiment, type Brief, type Case, type Experiment, type Papers, type Sentence } from '../../data/papers'
import { isReport } from '../../data/load'
import { open } from '../../scenario/current'
import { download } from '../../ui/download'
import { Prose } from '../../ui/prose'
import { addressOf } from './address'
import { Command, Figures, Loading } from './shared'
import { Verdict } from './verdict'

const FIRST_CASES = 3

interface Props {
  brief: Brief
  papers: Papers
  close: () => void
}

export function Detail({ brief, papers, close }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    heading.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  const word = papers.verdicts.find((each) => each.name === brief.verdict)
  const listed = papers.experiments.find((each) => each.key === brief.experiment)
  return (
    <article class="papers-sentence">
      <button type="button" class="papers-back" onClick={close}>
        Back to the list
      </button>
      <h2 ref={heading} tabIndex={-1}>
        {brief.says}
      </h2>
      <p>
        <Verdict words={papers.verdicts} name={brief.verdict} edge={brief.edge} mark={brief.mark} />{' '}
        <span class="soft">{`${brief.paper}, ${brief.figure}: ${word?.meaning ?? ''}`}</span>
      </p>
      {brief.late && (
        <p class="soft small">This rests on a case that was written when results were known, so it is weaker.</p>
      )}
      {listed?.run ? (
        <Loading
          load={() => experiment(brief.experiment)}
          name={brief.experiment}
          shown={(found) => <Evidence brief={brief} papers={papers} found={found} />}
        />
      ) : (
        <Command text="Not run yet. This runs it:" command={listed?.command ?? ''} />
      )}
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
          <strong>{brief.verdict === 'impossible' ? 'Why: ' : 'Rests on: '}</strong>
          {sentence.rests_on}
        </p>
      )}
      {decisive && <Numbers decisive={decisive} />}
      <Scenario sentence={sentence} found={found} />
      <Figures found={found} first={sentence.figure} />
      <Cases sentence={sentence} papers={papers} />
      <details>
        <summary>How it was run</summary>
        <Prose text={found.description} />
        <Command
          text={`${found.runs} runs, seeds ${found.seeds}, engine ${found.engine}. This command makes these numbers again:`}
          command={found.command}
        />
        <p>
          <a href={addressOf({ tab: 'experiments', experiment: found.key })}>All of this experiment</a>
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

/** One of the runs: to play with here, or in a terminal. */
function Scenario({ sentence, found }: { sentence: Sentence; found: Experiment }) {
  const scenario = sentence.scenario === null ? undefined : found.scenarios[sentence.scenario]
  if (!scenario) {
    const why =
      found.runs > 0 ? 'Its runs are too large for a page, or read other files.' : 'Nothing was simulated for it.'
    return <Command text={isReport() ? 'This command makes its numbers again:' : why} command={found.command} />
  }
  const file = `${sentence.id.replaceAll(/[^\w.-]+/g, '-')}.toml`
  const { toml, compare } = scenario
  return (
    <>
      <p class="row">
        {!isReport() && (
          <button
            type="button"
            class="primary"
            onClick={() => {
              open({ toml, schemes: compare })
            }}
          >
            Open this in Play
          </button>
        )}
        <button
          type="button"
          onClick={() => {
            download(file, toml, 'application/toml')
          }}
        >
          Download the scenario
        </button>
        <span class="soft small">{`One of its runs, with ${compare.join(', ')}: one seed.`}</span>
      </p>
      <Command
        text="Downloaded, it runs in a terminal:"
        command={compare.length > 1 ? `fanin compare ${file} --schemes ${compare.join(',')}` : `fanin run ${file}`}
      />
    </>
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
