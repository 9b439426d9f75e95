/** The sentences of all papers: counts, filter, list, and the one that is chosen. */

import { useMemo, useState } from 'preact/hooks'
import { counted, filterOf, matching, type Brief, type Filter, type Paper, type Papers } from '../../data/papers'
import { isReport } from '../../data/load'
import type { Change } from '../../scenario/params'
import { Choice } from './choice'
import { Detail } from './detail'
import { Verdict } from './verdict'

/** More are shown when they are asked for. */
const FIRST = 40

interface Props {
  papers: Papers
  params: URLSearchParams
  change: Change
}

export function Browse({ papers, params, change }: Props) {
  const filter = filterOf(params)
  const { words, paper, verdict, system } = filter
  const every = useMemo(() => counted(papers.sentences), [papers])
  const found = useMemo(
    () => matching(every, { words, paper, verdict, system }),
    [every, words, paper, verdict, system],
  )
  const open = papers.sentences.find((each) => each.id === params.get('id'))
  const close = () => {
    change({ id: '' })
  }
  return (
    <>
      <p class="soft">
        {`${every.length} sentences, each in a form that a program can check, judged by ${papers.runs} simulated runs (${papers.hops} packet hops, engine ${papers.engine}).`}
        {!isReport() && ' The numbers here were made before you came; what you open in Play runs in your browser.'}
      </p>
      <Counts papers={papers} filter={filter} change={change} />
      <Filters papers={papers} every={every} filter={filter} change={change} />
      <p role="status" class="small">{`${found.length} of ${every.length} sentences`}</p>
      <div class={open ? 'papers-browse open' : 'papers-browse'}>
        <List papers={papers} found={found} open={open} change={change} key={JSON.stringify(filter)} />
        <section class="papers-detail card" aria-label="The chosen sentence">
          {open ? (
            <Detail key={open.id} brief={open} papers={papers} close={close} />
          ) : (
            <p class="soft">Choose a sentence to see its figure, its numbers and the reasons for them.</p>
          )}
        </section>
      </div>
    </>
  )
}

/** A bar for each paper: how many of its sentences have which verdict. */
function Counts({ papers, filter, change }: { papers: Papers; filter: Filter; change: Change }) {
  const judged = papers.papers.filter((paper) => paper.sentences > 0 && paper.run > 0)
  return (
    <details class="papers-counts" open>
      <summary>Verdicts by paper</summary>
      <ul>
        {judged.map((paper) => (
          <li key={paper.key}>
            <span class="papers-name">{paper.name}</span>
            <Bar paper={paper} papers={papers} filter={filter} change={change} />
          </li>
        ))}
      </ul>
      <dl class="papers-key small">
        {papers.verdicts
          .filter((word) => judged.some((paper) => paper.counts[word.name]))
          .map((word) => (
            <div key={word.name}>
              <dt>
                <Verdict words={papers.verdicts} name={word.name} />
              </dt>
              <dd>{word.meaning}</dd>
            </div>
          ))}
      </dl>
    </details>
  )
}

interface BarProps {
  paper: Paper
  papers: Papers
  filter: Filter
  change: Change
}

function Bar({ paper, papers, filter, change }: BarProps) {
  return (
    <span class="papers-bar">
      {papers.verdicts
        .filter((word) => paper.counts[word.name])
        .map((word) => {
          const here = filter.paper === paper.key && filter.verdict === word.name
          const count = paper.counts[word.name] ?? 0
          return (
            <button
              key={word.name}
              type="button"
              class={`tone-${word.tone}`}
              style={{ flexGrow: count }}
              aria-pressed={here}
              aria-label={`${paper.name}, ${word.name}: ${count}`}
              title={`${word.name}: ${count}`}
              onClick={() => {
                change(here ? { paper: '', verdict: '' } : { paper: paper.key, verdict: word.name })
              }}
            >
              <span aria-hidden="true">{word.sign}</span> {count}
            </button>
          )
        })}
    </span>
  )
}

interface FiltersProps {
  papers: Papers
  every: Brief[]
  filter: Filter
  change: Change
}

function Filters({ papers, every, filter, change }: FiltersProps) {
  const systems = useMemo(() => [...new Set(every.flatMap((each) => each.systems))].sort(), [every])
  return (
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
          value={filter.words}
          placeholder="such as collapse, queue, Fig. 9"
          onInput={({ currentTarget }) => {
            change({ q: currentTarget.value })
          }}
        />
      </label>
      <Choice
        label="Paper"
        value={filter.paper}
        options={papers.papers.map((paper) => [paper.key, paper.name])}
        choose={(paper) => {
          change({ paper })
        }}
      />
      <Choice
        label="Verdict"
        value={filter.verdict}
        options={papers.verdicts.map((word) => [word.name, `${word.sign} ${word.name}`])}
        choose={(verdict) => {
          change({ verdict })
        }}
      />
      <Choice
        label="System"
        value={filter.system}
        options={systems.map((system) => [system, system])}
        choose={(system) => {
          change({ system })
        }}
      />
      <button
        type="button"
        disabled={!Object.values(filter).some(Boolean)}
        onClick={() => {
          change({ q: '', paper: '', verdict: '', system: '' })
        }}
      >
        Show all
      </button>
    </form>
  )
}

interface ListProps {
  papers: Papers
  found: Brief[]
  open: Brief | undefined
  change: Change
}

function List({ papers, found, open, change }: ListProps) {
  const [shown, setShown] = useState(FIRST)
  return (
    <div class="papers-list">
      <ol>
        {found.slice(0, shown).map((each) => (
          <li key={each.id}>
            <button
              type="button"
              class="papers-item"
              aria-current={each === open ? 'true' : undefined}
              onClick={() => {
                change({ id: each.id })
              }}
            >
              <span class="row small">
                <Verdict words={papers.verdicts} name={each.verdict} edge={each.edge} mark={each.mark} />
                <span class="soft">{`${each.paper} ${each.figure}`}</span>
              </span>
              {each.says}
              {each.condition && <span class="papers-condition small soft">{each.condition}</span>}
            </button>
          </li>
        ))}
      </ol>
      {found.length > shown && (
        <button
          type="button"
          onClick={() => {
            setShown(found.length)
          }}
        >
          {`Show ${found.length - shown} more`}
        </button>
      )}
    </div>
  )
}
