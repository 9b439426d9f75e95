/** What the verdicts rest on: all of them by paper, machine and versions, how claims are judged, and what was not run. */

import type { Fact, Papers, Word } from '../../data/papers'
import { Prose } from '../../ui/prose'
import { addressOf } from './address'
import { Verdict } from './verdict'

export function About({ papers }: { papers: Papers }) {
  return (
    <div class="papers-about">
      <Matrix papers={papers} />
      <h2>Where the numbers come from</h2>
      <p>
        Numbers, figures and verdicts are computed from runs; the accepted ranges and the explanations are written by
        hand.
      </p>
      <Facts facts={papers.facts} />
      <h2>How claims are judged</h2>
      <p>
        A claim is a sentence of a paper in a form that a program can check. It has a measure of a curve, the published
        value, and an accepted range around that value. The range and the reason for it are written into the
        experiment's file before the first run. If a claim, range or reading was written or corrected after a first run,
        "Added" says so. It also states which results were known by then.
      </p>
      {papers.method.map((text) => (
        <p key={text}>{text}</p>
      ))}
      <Words title="The verdict on a sentence is one of these" words={papers.verdicts} />
      <Words title="The outcome of a case is one of these" words={papers.outcomes} />
      <Systems papers={papers} />
      <NotRun papers={papers} />
    </div>
  )
}

export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl class="papers-facts">
      {facts.map(([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  )
}

function Matrix({ papers }: { papers: Papers }) {
  const judged = papers.papers.filter((paper) => paper.sentences > 0)
  if (judged.length === 0) return null
  return (
    <div class="scroll" role="region" aria-label="Verdicts by paper" tabIndex={0}>
      <table class="papers-matrix">
        <caption>Sentences by paper and by verdict</caption>
        <thead>
          <tr>
            <th scope="col">Paper</th>
            {papers.verdicts.map(({ name }) => (
              <th key={name} scope="col" class="number">
                <Verdict words={papers.verdicts} name={name} />
              </th>
            ))}
            {['Sentences', 'Cases reproduced', 'Experiments run'].map((title) => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {judged.map((paper) => (
            <tr key={paper.key}>
              <th scope="row">
                <a href={addressOf({ paper: paper.key })}>{paper.name}</a>
              </th>
              {papers.verdicts.map(({ name, tone }) => {
                const count = paper.counts[name] ?? 0
                return (
                  <td key={name} class={`number tone-${count ? tone : 'none'}`}>
                    {count}
                  </td>
                )
              })}
              <td class="number">{paper.sentences}</td>
              <td class="number">{`${paper.reproduced} of ${paper.cases}`}</td>
              <td class="number">{`${paper.run} of ${paper.experiments}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Words({ title, words }: { title: string; words: Word[] }) {
  return (
    <>
      <h3>{title}</h3>
      <dl class="papers-facts">
        {words.map(({ name, meaning }) => (
          <div key={name}>
            <dt>
              <Verdict words={words} name={name} />
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function Systems({ papers }: { papers: Papers }) {
  const known = papers.papers.filter((paper) => paper.scheme)
  if (known.length === 0) return null
  return (
    <>
      <h2>The papers' systems</h2>
      {known.map(({ key, name, scheme, manual }) => (
        <details key={key}>
          <summary>{name}</summary>
          <Prose text={manual} />
          <p class="soft small">
            From the scheme's manual page. <code>{`fanin explain ${scheme}`}</code> prints all of it, with every
            parameter and reading.
          </p>
        </details>
      ))}
    </>
  )
}

function NotRun({ papers }: { papers: Papers }) {
  const missing = papers.experiments.filter((each) => !each.run)
  if (missing.length === 0) return null
  const claims = missing.reduce((sum, each) => sum + each.sentences, 0)
  return (
    <>
      <h2>Not run</h2>
      <details>
        <summary>{`${missing.length} experiments with ${claims} sentences without results here`}</summary>
        <div class="scroll" role="region" aria-label="Experiments without results" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {['Experiment', 'Figure', 'Title', 'Sentences', 'State', 'Run it'].map((title) => (
                  <th key={title} scope="col" class={title === 'Sentences' ? 'number' : undefined}>
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {missing.map((each) => (
                <tr key={each.key}>
                  <th scope="row">
                    <code>{each.key}</code>
                  </th>
                  <td>{each.figure}</td>
                  <td>{each.title}</td>
                  <td class="number">{each.sentences}</td>
                  <td>{each.state}</td>
                  <td>
                    <code>{each.command}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </>
  )
}
