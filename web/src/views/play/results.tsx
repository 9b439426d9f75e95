/** What the schemes made of the scenario: totals, and what happened over time. */

import { useState } from 'preact/hooks'
import { schemesOf, type Batch } from '../../engine/simulate'
import type { Registry } from '../../engine/types'
import type { Scenario } from '../../scenario/address'
import { withUnit } from '../../ui/numbers'
import { useStore } from '../../ui/store'
import { Charts } from './charts'
import { Complaint } from './complaint'
import { runs } from './session'
import { commandFor, TakeAway } from './takeaway'
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
      <Complaint error={error} command={commandFor(schemesOf(scenario)[0] ?? '')} />
      {cancelled && <p class="note part">Cancelled. The results below are of the scenario before.</p>}
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

/** The results in a sentence for those who cannot see them. */
function spoken(batch: Batch | undefined): string {
  return (batch?.runs ?? [])
    .map(({ scheme, outcome: { summary } }) => `${scheme}: goodput ${withUnit(Number(summary.goodput_bps), 'bit/s')}`)
    .join('; ')
}
