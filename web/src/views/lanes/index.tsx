/** Lanes: what every flow of a run did when, a row each. */

import type { Recorded, Trace } from '../../trace/session'
import { OfScenario, Stored } from '../../trace/traced'
import { Panel } from './panel'
import './lanes.css'

const show = (trace: Trace) => <Panel key={trace.outcome.summary.result_hash} trace={trace} />

/** The current scenario, run for it. */
export default function Lanes() {
  return (
    <>
      <h1 class="visually-hidden">Lanes</h1>
      <OfScenario show={show} />
    </>
  )
}

/** A stored run with crossings. */
export function LanesStored(recorded: Recorded) {
  return <Stored recorded={recorded} show={show} />
}
