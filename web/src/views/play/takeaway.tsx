/** What one takes away: files, and the command that gives the same in a terminal. */

import { useState } from 'preact/hooks'
import { engine } from '../../engine/client'
import { commandOf, FILE, requestFor, schemesOf, type Batch } from '../../engine/simulate'
import type { Summary } from '../../engine/types'
import type { Scenario } from '../../scenario/address'
import { csv, download, type Cell } from '../../ui/download'
import { useLoaded } from '../../ui/store'

interface Props {
  scenario: Scenario
  batch: Batch | undefined
}

export function TakeAway({ scenario, batch }: Props) {
  const [open, setOpen] = useState(false)
  return (
    <div class="takeaway">
      <div class="row">
        <button
          type="button"
          onClick={() => {
            download(FILE, scenario.toml, 'application/toml')
          }}
        >
          Download TOML
        </button>
        <button
          type="button"
          disabled={!batch}
          onClick={() => {
            if (batch) download('totals.csv', totalsCsv(batch), 'text/csv')
          }}
        >
          Totals as CSV
        </button>
        <button
          type="button"
          disabled={!batch}
          onClick={() => {
            if (batch) download('totals.json', totalsJson(batch), 'application/json')
          }}
        >
          Totals as JSON
        </button>
      </div>
      <details
        onToggle={({ currentTarget }) => {
          setOpen(currentTarget.open)
        }}
      >
        <summary>The same in a terminal, with the same result hash</summary>
        {open && <Terminal scenario={scenario} />}
      </details>
    </div>
  )
}

/** Recording for plots is part of the result, so that the hashes are those of runs without it. */
function Terminal({ scenario }: { scenario: Scenario }) {
  const hashes = useLoaded(
    () =>
      Promise.all(
        schemesOf(scenario).map(async (scheme) => {
          const { summary } = await engine.run(requestFor(scenario.toml, scheme))
          return { scheme, hash: typeof summary.result_hash === 'string' ? summary.result_hash : '' }
        }),
      ),
    [scenario],
  )
  if (hashes.state === 'failed') return <p class="soft">{hashes.error.message}</p>
  return (
    <dl class="commands">
      {schemesOf(scenario).map((scheme, index) => (
        <div key={scheme}>
          <dt>
            <code>{commandOf(scheme)}</code>
          </dt>
          <dd class="soft">
            result hash <code>{hashes.state === 'ready' ? hashes.value[index]?.hash : '…'}</code>
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Without the hash: it is that of a run which records for plots, and no run in a terminal has it. */
function totalsOf({ runs }: Batch): { scheme: string; summary: Summary }[] {
  return runs.map(({ scheme, outcome }) => {
    const summary = { ...outcome.summary }
    delete summary.result_hash
    return { scheme, summary }
  })
}

/** A row per scheme with every total that is a number, a word or a truth value. */
export function totalsCsv(batch: Batch): string {
  const runs = totalsOf(batch)
  const plain = (value: unknown): value is Cell => value === null || typeof value !== 'object'
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.summary)))].filter((name) =>
    runs.every((run) => plain(run.summary[name] ?? null)),
  )
  const rows = runs.map((run) => [run.scheme, ...names.map((name) => (run.summary[name] ?? null) as Cell)])
  return csv(['scheme', ...names], rows)
}

export function totalsJson(batch: Batch): string {
  return JSON.stringify(
    totalsOf(batch).map(({ scheme, summary }) => ({ scheme, ...summary })),
    null,
    2,
  )
}
