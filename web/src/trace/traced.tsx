/** What Watch and Lanes have around them: the choice of a run, its progress, and what keeps it from being shown. */

import type { ComponentChildren } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { commandOf, schemesOf, tableOf } from '../engine/simulate'
import { current } from '../scenario/current'
import { useParams } from '../scenario/params'
import { Complaint } from '../ui/complaint'
import { digits, withUnit } from '../ui/numbers'
import { Presets } from '../ui/presets'
import { useStore } from '../ui/store'
import { MOST_CROSSINGS, traceOf, traces, type Recorded, type Trace } from './session'
import './traced.css'

interface Props {
  show: (trace: Trace) => ComponentChildren
}

/** A stored run. */
export function Stored({ recorded, show }: Props & { recorded: Recorded }) {
  const { outcome, topology, values } = recorded
  const trace = useMemo(
    () => traceOf({ outcome, topology, ...(values ? { values } : {}) }),
    [outcome, topology, values],
  )
  return <Shown trace={trace} show={show} />
}

/** The current scenario, with one of its schemes. */
export function OfScenario({ show }: Props) {
  const scenario = useStore(current)
  const { toml } = scenario
  const schemes = schemesOf(scenario)
  const [params, change] = useParams()
  const chosen = params.get('scheme') ?? ''
  const scheme = schemes.includes(chosen) ? chosen : (schemes[0] ?? '')
  const { busy, share, cancelled, result, error } = useStore(traces.state)
  useEffect(() => {
    traces.ask({ toml, scheme })
  }, [toml, scheme])
  useEffect(
    () => () => {
      traces.cancel()
    },
    [],
  )
  return (
    <div aria-busy={busy || (!error && !cancelled && !result)}>
      <div class="traced-choice">
        <Presets />
        <label>
          <span class="label">Scheme</span>
          <select
            value={scheme}
            onChange={({ currentTarget }) => {
              change({ scheme: currentTarget.value })
            }}
          >
            {schemes.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <a class="traced-change" href="#/play">
          Change it in Play
        </a>
        <progress class={busy ? undefined : 'idle'} max={1} value={share} aria-label="Share of the run that is done" />
        <button
          type="button"
          disabled={!busy}
          onClick={() => {
            traces.cancel()
          }}
        >
          Cancel
        </button>
      </div>
      {error && <Complaint error={error} command={commandOf(scheme)} />}
      {!error && cancelled && <p class="note part">Cancelled.</p>}
      {!error && !cancelled && !result && <p class="soft traced-empty">Running the scenario…</p>}
      {!error && !cancelled && result && <Shown trace={result} show={show} />}
    </div>
  )
}

function Shown({ trace, show }: Props & { trace: Trace }) {
  const { hops } = trace
  if (hops.crossings.rows === 0) {
    const recorded = tableOf(trace.outcome, 'crossings') !== undefined
    return (
      <p class="note part">
        {recorded
          ? 'No packet crossed a link in this run.'
          : 'This run has no record of its packets. Run it again with measure.crossings = "all" and measure.queues = "all".'}
      </p>
    )
  }
  return (
    <>
      <p class={hops.truncated ? 'note part' : 'soft small'}>{extent(trace)}</p>
      {show(trace)}
    </>
  )
}

/** How much of the run is shown. */
function extent({ hops, outcome }: Trace): string {
  const all = Number(outcome.summary.packet_hops)
  const { rows } = hops.crossings
  const length = `${digits(all)} packet hops in ${withUnit(Number(outcome.summary.simulated_s), 's')}`
  if (!hops.truncated) return length
  const why = rows >= MOST_CROSSINGS || rows < all ? `the first ${digits(rows)} of ${digits(all)} packet hops` : length
  return `Shown are ${why}, until ${withUnit(hops.until, 's')}. A shorter run shows all.`
}
