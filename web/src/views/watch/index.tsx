/** Watch: a run packet by packet. */

import type { Recorded, Trace } from '../../trace/session'
import { OfScenario, Stored } from '../../trace/traced'
import { Player } from './player'
import './watch.css'

const show = (trace: Trace) => <Player key={trace.outcome.summary.result_hash} trace={trace} />

/** The current scenario, run for it. */
export default function Watch() {
  return (
    <>
      <h1 class="visually-hidden">Watch</h1>
      <OfScenario show={show} />
    </>
  )
}

/** A stored run with crossings. */
export function WatchStored(recorded: Recorded) {
  return <Stored recorded={recorded} show={show} />
}
