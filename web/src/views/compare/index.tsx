/** Compare: what becomes of each scheme as a knob is turned, over several seeds. */

import { useMemo, useState } from 'preact/hooks'
import { registry } from '../../engine/client'
import { commandOf, schemesOf } from '../../engine/simulate'
import type { Registry } from '../../engine/types'
import { current } from '../../scenario/current'
import { knobsOf } from '../../scenario/knobs'
import { read } from '../../scenario/toml'
import { Complaint } from '../../ui/complaint'
import { Presets } from '../../ui/presets'
import { Schemes } from '../../ui/schemes'
import { useLoaded, useStore } from '../../ui/store'
import { Axis } from './axis'
import { Figures } from './figures'
import { cancel, runsOf, start, sweep, type Plan } from './sweep'
import './compare.css'

export default function Compare() {
  const loaded = useLoaded(registry, [])
  return (
    <>
      <h1 class="visually-hidden">Compare</h1>
      {loaded.state === 'failed' && (
        <p class="note bad" role="alert">
          {loaded.error.message}
        </p>
      )}
      {loaded.state === 'ready' ? <Bench registry={loaded.value} /> : <p class="soft">Loading the engine…</p>}
    </>
  )
}

const SEEDS = 5

function Bench({ registry: known }: { registry: Registry }) {
  const scenario = useStore(current)
  const { problem, plan } = useStore(sweep)
  const schemes = schemesOf(scenario)
  const knobs = useMemo(() => knobsOf(known, read(scenario.toml), schemesOf(scenario)), [known, scenario])
  const [axis, setAxis] = useState('senders')
  const knob = knobs.find((each) => each.id === axis) ?? knobs[0]
  const [xs, setXs] = useState<number[]>([])
  const [seeds, setSeeds] = useState(SEEDS)
  const next: Plan | undefined = knob && { toml: scenario.toml, schemes, knob, xs, seeds }
  return (
    <div class="compare">
      <div class="compare-controls">
        <Presets />
        <Schemes
          registry={known}
          chosen={schemes}
          choose={(chosen) => {
            current.set({ ...scenario, schemes: chosen })
          }}
        />
        {knob && <Axis knobs={knobs} knob={knob} choose={setAxis} xs={xs} setXs={setXs} />}
        <Seeds seeds={seeds} setSeeds={setSeeds} />
        {next && <Go plan={next} />}
        {problem && <Complaint error={problem} command={commandOf(schemes[0] ?? '')} />}
        {plan && next && <Changed plan={plan} next={next} />}
      </div>
      <Figures registry={known} />
    </div>
  )
}

function Seeds({ seeds, setSeeds }: { seeds: number; setSeeds: (seeds: number) => void }) {
  return (
    <label>
      <span class="label">Seeds, from 1</span>
      <input
        type="number"
        min={1}
        max={30}
        value={seeds}
        onInput={({ currentTarget: { value } }) => {
          if (Number(value) >= 1) setSeeds(Math.min(Math.floor(Number(value)), 30))
        }}
      />
      <span class="soft small">{seeds < 3 ? ' Bands need three.' : ''}</span>
    </label>
  )
}

function Go({ plan }: { plan: Plan }) {
  const { busy, points, plan: running, cancelled } = useStore(sweep)
  const total = running ? runsOf(running) : 0
  return (
    <div class="go">
      <div class="row">
        <button type="button" class="primary" disabled={plan.xs.length === 0} onClick={() => void start(plan)}>
          {`Run ${runsOf(plan)} simulations`}
        </button>
        <button type="button" disabled={!busy} onClick={cancel}>
          Cancel
        </button>
      </div>
      <progress max={Math.max(total, 1)} value={points.length} aria-label="Simulations that are done" />
      <p class="soft small" role="status">
        {busy && `${points.length} of ${total} done`}
        {!busy && total > 0 && `${cancelled ? 'Cancelled after' : 'Done:'} ${points.length} of ${total}`}
      </p>
    </div>
  )
}

/** Says that the figures are of another scenario than the one that is chosen. */
function Changed({ plan, next }: { plan: Plan; next: Plan }) {
  const of = ({ toml, schemes, knob, xs, seeds }: Plan) => JSON.stringify([toml, schemes, knob.id, xs, seeds])
  return of(plan) === of(next) ? null : <p class="note part">The figures show what was chosen before.</p>
}
