/** All experiments: of each its figures, its sentences, how it was run, and what runs it again. */

import { useEffect, useRef } from 'preact/hooks'
import { counted, experiment, type Experiment, type Listed, type Papers } from '../../data/papers'
import { Prose } from '../../ui/prose'
import type { Change } from '../../scenario/params'
import { addressOf } from './address'
import { Facts } from './about'
import { Choice } from './choice'
import { Command, Figures, Loading } from './shared'
import { Verdict } from './verdict'

interface Props {
  papers: Papers
  params: URLSearchParams
  change: Change
}

export function Experiments({ papers, params, change }: Props) {
  const words = (params.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const paper = params.get('paper') ?? ''
  const run = papers.experiments.filter((each) => each.run)
  const missing = papers.experiments.length - run.length
  const found = run.filter((each) => {
    const text = `${each.key} ${each.figure} ${each.title}`.toLowerCase()
    return (!paper || each.paper === paper) && words.every((word) => text.includes(word))
  })
  const open = papers.experiments.find((each) => each.key === params.get('experiment'))
  return (
    <>
      <form
        class="papers-filters"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
        }}
      >
        <label>
          <span class="label">Search</span>
          <input
            type="search"
            value={params.get('q') ?? ''}
            placeholder="such as Fig. 9"
            onInput={({ currentTarget }) => {
              change({ q: currentTarget.value })
            }}
          />
        </label>
        <Choice
          label="Paper"
          value={paper}
          options={papers.papers.filter((each) => each.run > 0).map(({ key, name }) => [key, name])}
          choose={(chosen) => {
            change({ paper: chosen })
          }}
        />
      </form>
      <p role="status" class="small">{`${found.length} of ${run.length} experiments`}</p>
      {missing > 0 && (
        <p class="small soft">
          <a href={addressOf({ tab: 'about' })}>{`${missing} more were not run`}</a>
        </p>
      )}
      <div class={open ? 'papers-browse open' : 'papers-browse'}>
        <List papers={papers} found={found} open={open} change={change} />
        <section class="papers-detail card" aria-label="The chosen experiment">
          {open ? (
            <Detail key={open.key} listed={open} papers={papers} change={change} />
          ) : (
            <p class="soft">Choose an experiment to see its figures and how it was run.</p>
          )}
        </section>
      </div>
    </>
  )
}

interface ListProps {
  papers: Papers
  found: Listed[]
  open: Listed | undefined
  change: Change
}

function List({ papers, found, open, change }: ListProps) {
  return (
    <div class="papers-list">
      {papers.papers.map(({ key, name }) => {
        const own = found.filter((each) => each.paper === key)
        if (own.length === 0) return null
        return (
          <section key={key} aria-label={name}>
            <h2>{name}</h2>
            <ol>
              {own.map((each) => (
                <li key={each.key}>
                  <button
                    type="button"
                    class="papers-item"
                    aria-current={each === open ? 'true' : undefined}
                    onClick={() => {
                      change({ experiment: each.key })
                    }}
                  >
                    <span class="row small soft">{`${each.figure || each.key} · ${each.state}`}</span>
                    {each.title || each.key}
                  </button>
                </li>
              ))}
            </ol>
          </section>
        )
      })}
    </div>
  )
}

function Detail({ listed, papers, change }: { listed: Listed; papers: Papers; change: Change }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    heading.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <article class="papers-sentence">
      <button
        type="button"
        class="papers-back"
        onClick={() => {
          change({ experiment: '' })
        }}
      >
        Back to the list
      </button>
      <h2 ref={heading} tabIndex={-1}>
        {[listed.figure, listed.title || listed.key].filter(Boolean).join(': ')}
      </h2>
      <p class="soft">
        <code>{listed.key}</code>
        {`: ${listed.state}`}
      </p>
      {listed.run ? (
        <Loading
          load={() => experiment(listed.key)}
          name={listed.key}
          shown={(found) => <Whole listed={listed} papers={papers} found={found} />}
        />
      ) : (
        <Command text="This runs it:" command={listed.command} />
      )}
    </article>
  )
}

function Whole({ listed, papers, found }: { listed: Listed; papers: Papers; found: Experiment }) {
  const sentences = papers.sentences.filter((each) => each.experiment === listed.key)
  const count = counted(sentences).length
  return (
    <>
      {listed.state === 'stale' && (
        <div class="note part">
          <Command text="These results are of another version. This updates them:" command={listed.command} />
        </div>
      )}
      {found.warnings.map((warning) => (
        <p key={warning} class="note part">
          {warning}
        </p>
      ))}
      {found.figures.length > 0 && <Figures found={found} first={0} />}
      {sentences.length > 0 && (
        <section aria-label="Sentences">
          <h3>
            {count === sentences.length
              ? `Sentences: ${count}`
              : `Sentences: ${count}, and ${sentences.length - count} counted elsewhere`}
          </h3>
          <ul class="papers-cases">
            {sentences.map((each) => (
              <li key={each.id}>
                <Verdict words={papers.verdicts} name={each.verdict} edge={each.edge} mark={each.mark} />{' '}
                <a href={addressOf({ id: each.id })}>{each.says}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <h3>How it was run</h3>
      <Prose text={found.description} />
      <Command text="Run it again:" command={found.command} />
      <Facts facts={found.facts} />
      <Resolved found={found} />
    </>
  )
}

function Resolved({ found: { file, resolved } }: { found: Experiment }) {
  if (file === undefined) return null
  return (
    <>
      <p class="small">
        <a href={file.split('/').map(encodeURIComponent).join('/')}>The experiment's file</a>
      </p>
      <details>
        <summary>Resolved scenario: every value in effect</summary>
        <p class="soft small">These are the base values; the sweep replaces those that are varied, and the seed.</p>
        <pre class="scroll papers-data" tabIndex={0} role="region" aria-label="Resolved scenario">
          {resolved}
        </pre>
      </details>
    </>
  )
}
