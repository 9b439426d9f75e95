/** One stored run: totals, tables, downloads, and its way into the other views. */

import { useState } from 'preact/hooks'
import { readFile, readRun, readScenario, type RunDetail } from '../../data/served'
import { open } from '../../scenario/current'
import { download } from '../../ui/download'
import { useLoaded } from '../../ui/store'
import { Tables } from './tables'
import { Traces } from './traces'

export function Run({ id }: { id: string }) {
  const loaded = useLoaded(() => readRun(id), [id])
  return (
    <>
      <p>
        <a href="#/runs">All runs</a>
      </p>
      <h1>
        Run <code>{id}</code>
      </h1>
      {loaded.state === 'waiting' && <p class="soft">Reading the run…</p>}
      {loaded.state === 'failed' && (
        <p class="note bad" role="alert">
          {loaded.error.message}
        </p>
      )}
      {loaded.state === 'ready' && <Found run={loaded.value} />}
    </>
  )
}

function Found({ run }: { run: RunDetail }) {
  const { experiment, finished, engine_version: engine, host } = run.manifest
  const facts = { Experiment: experiment, Finished: finished, Engine: engine, Machine: host }
  return (
    <>
      <dl class="facts">
        {Object.entries(facts).map(([name, value]) => (
          <div key={name}>
            <dt class="label">{name}</dt>
            <dd>{typeof value === 'string' && value !== '' ? value : '–'}</dd>
          </div>
        ))}
      </dl>
      <Actions run={run} />
      <Traces run={run} />
      <Tables run={run} />
      <h2>Totals</h2>
      <Totals run={run} />
    </>
  )
}

/** Does something that may fail, and says why it did. */
function useDoing(): { problem: string; busy: boolean; begin: (what: () => Promise<void>) => void } {
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const begin = (what: () => Promise<void>) => {
    setBusy(true)
    setProblem('')
    what()
      .catch((error: unknown) => {
        setProblem((error as Error).message)
      })
      .finally(() => {
        setBusy(false)
      })
  }
  return { problem, busy, begin }
}

function Actions({ run }: { run: RunDetail }) {
  const { problem, busy, begin } = useDoing()
  const id = run.run_id
  const actions: [string, () => Promise<void>][] = [
    [
      'Open in Play',
      async () => {
        open({ toml: await readScenario(id), schemes: [] })
      },
    ],
    [
      'Scenario as TOML',
      async () => {
        download(`${id}.toml`, await readScenario(id), 'application/toml')
      },
    ],
    [
      'Manifest as JSON',
      () => {
        download(`${id}.json`, JSON.stringify(run.manifest, null, 1), 'application/json')
        return Promise.resolve()
      },
    ],
  ]
  if (run.capture) {
    actions.push([
      'Packets as pcapng',
      async () => {
        download(`${id}.pcapng`, await readFile(id, 'capture'), 'application/x-pcapng')
      },
    ])
  }
  return (
    <div class="row run-actions" role="group" aria-label="What to do with the run">
      {actions.map(([name, what]) => (
        <button
          key={name}
          type="button"
          disabled={busy}
          onClick={() => {
            begin(what)
          }}
        >
          {name}
        </button>
      ))}
      <span role="alert">{problem}</span>
    </div>
  )
}

function Totals({ run }: { run: RunDetail }) {
  return (
    <div class="scroll" role="region" aria-label="Totals" tabIndex={0}>
      <table class="run-totals">
        <caption class="visually-hidden">Totals of the run</caption>
        <tbody>
          {run.totals.map(({ label, value }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td class="number">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
