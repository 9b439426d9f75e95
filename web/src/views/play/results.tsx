/** What the schemes made of the scenario: totals, and what happened over time. */

import { useState } from 'preact/hooks'
import { commandOf, schemesOf, type Batch, type Run } from '../../engine/simulate'
import type { Registry } from '../../engine/types'
import type { Scenario } from '../../scenario/address'
import { Complaint } from '../../ui/complaint'
import { digits, withUnit } from '../../ui/numbers'
import { useStore } from '../../ui/store'
import { Charts } from './charts'
import { runs } from './session'
import { TakeAway } from './takeaway'
import { Totals } from './totals'

interface Props {
  registry: Registry | undefined
  scenario: Scenario
}

export function Results({ registry, scenario }: Props) {
  const { result, error, busy, cancelled } = useStore(runs.state)
  const [all, setAll] = useState(false)
  const stale = error !== undefined || cancelled
  return (
    <section class="play-results" aria-label="Results" aria-busy={busy}>
      <div class="state">
        {error && <Complaint error={error} command={commandOf(schemesOf(scenario)[0] ?? '')} />}
        {!error && cancelled && (
          <p class="note part">{result ? 'Cancelled. These results are of the scenario before.' : 'Cancelled.'}</p>
        )}
        {!error && !cancelled && <p class="soft small">{effort(result)}</p>}
      </div>
      <div class={stale ? 'stale' : undefined}>
        <Totals registry={registry} batch={result} schemes={schemesOf(scenario)} all={all} />
        <label class="row small all-totals">
          <input
            type="checkbox"
            checked={all}
            onChange={({ currentTarget }) => {
              setAll(currentTarget.checked)
            }}
          />
          All totals
        </label>
        <Charts batch={result} scenario={scenario} />
      </div>
      <TakeAway scenario={scenario} batch={result} />
      <p class="visually-hidden" role="status">
        {busy ? '' : spoken(result)}
      </p>
    </section>
  )
}

/** What the engine did for it. */
function effort(batch: Batch | undefined): string {
  if (!batch) return 'Running…'
  const sum = (of: (run: Run) => number) => batch.runs.reduce((total, run) => total + of(run), 0)
  const hops = sum((run) => Number(run.outcome.summary.packet_hops))
  const seconds = sum((run) => run.outcome.wallMs) / 1000
  const simulated = Math.max(...batch.runs.map((run) => Number(run.outcome.summary.simulated_s)))
  return `${digits(hops)} packet hops in ${withUnit(seconds, 's')} of computing; ${withUnit(simulated, 's')} simulated`
}

/** The results in a sentence for those who cannot see them. */
function spoken(batch: Batch | undefined): string {
  return (batch?.runs ?? [])
    .map(({ scheme, outcome: { summary } }) => `${scheme}: goodput ${withUnit(Number(summary.goodput_bps), 'bit/s')}`)
    .join('; ')
}
