/** The figures of a sweep: goodput, completion times, their distribution, and what the other groups are left with. */

import { useMemo, useState } from 'preact/hooks'
import type { Registry, Total } from '../../engine/types'
import { current } from '../../scenario/current'
import { writeQuantity } from '../../scenario/quantity'
import { addToArray } from '../../scenario/toml'
import { Chart, type Axis, type Line } from '../../ui/chart'
import { csv, download } from '../../ui/download'
import { Exports } from '../../ui/exports'
import type { Figure } from '../../ui/figure'
import { useStore } from '../../ui/store'
import { useTheme, type Theme } from '../../ui/theme'
import { fctLines, groupTotalOf, isWide, meanLines, rowsOf, totalOf, type Measure } from './lines'
import { sweep, type Plan, type Point } from './sweep'

const BANDS = '95 % intervals of the mean over seeds (Student’s t)'
const QUANTILES =
  'where that has impossible values or the seeds fall into two groups, the 2.5th to the 97.5th percentile of the seeds'

interface Drawn {
  plan: Plan
  points: Point[]
  theme: Theme
}

export function Figures({ registry }: { registry: Registry }) {
  const { plan, points } = useStore(sweep)
  const theme = useTheme()
  const drawn = useMemo(() => plan && { plan, points, theme }, [plan, points, theme])
  if (!drawn) {
    return (
      <section class="compare-figures empty" aria-label="Figures">
        <p class="soft">
          A sweep runs every scheme at every value with every seed, here in your browser, and draws means with their 95
          % intervals.
        </p>
      </section>
    )
  }
  return (
    <section class="compare-figures" aria-label="Figures">
      <Means drawn={drawn} title="Goodput" label="Goodput" unit="bit/s" measure={totalOf('goodput_bps')} />
      <Completion drawn={drawn} registry={registry} />
      <Distribution drawn={drawn} />
      <Background drawn={drawn} />
      <p class="soft small">{`Bands are ${BANDS}; ${QUANTILES}. Fewer than three seeds have none.`}</p>
      <button
        type="button"
        disabled={drawn.points.length === 0}
        onClick={() => {
          const { header, rows } = rowsOf(drawn.plan, drawn.points)
          download('sweep.csv', csv(header, rows), 'text/csv')
        }}
      >
        All runs as CSV
      </button>
    </section>
  )
}

const UNITS = { count: '1', bytes: 'B', packets: 'pkt', time: 's', rate: 'bit/s' }

function axisOf({ knob }: Plan): Axis {
  return { label: knob.label, unit: UNITS[knob.dimension] }
}

interface MeansProps {
  drawn: Drawn
  title: string
  label: string
  unit: string
  measure: Measure
}

function Means({ drawn: { plan, points, theme }, title, label, unit, measure }: MeansProps) {
  const draw = (look: Theme): Line[] => meanLines(plan, points, measure, look)
  const lines = draw(theme)
  const log = unit === 's' && isWide(lines.flatMap((line) => Array.from(line.y)))
  const axes = { x: axisOf(plan), y: { label, unit, log } }
  return (
    <Plot
      title={`${title} against ${plan.knob.label.toLowerCase()}`}
      {...axes}
      lines={lines}
      paper={() => draw('light')}
      note={`${plan.seeds} seeds. Bands: ${BANDS}; beyond what can be, percentiles 2.5 to 97.5`}
      cursor="compare"
    />
  )
}

/** Totals that are completion times. */
function completionTotals({ totals }: Registry): Total[] {
  return totals.filter((total) => total.topic === 'completion' && total.unit === 's')
}

function Completion({ drawn, registry }: { drawn: Drawn; registry: Registry }) {
  const [name, setName] = useState('fct_p99_s')
  const totals = completionTotals(registry)
  const total = totals.find((each) => each.name === name)
  return (
    <div>
      <select
        aria-label="Completion time"
        value={name}
        onChange={({ currentTarget }) => {
          setName(currentTarget.value)
        }}
      >
        {totals.map((each) => (
          <option key={each.name} value={each.name}>
            {each.label}
          </option>
        ))}
      </select>
      <Means drawn={drawn} title={total?.label ?? name} label="Time" unit="s" measure={totalOf(name)} />
    </div>
  )
}

function Distribution({ drawn: { plan, points, theme } }: { drawn: Drawn }) {
  const [chosen, setChosen] = useState<number | undefined>()
  const x = chosen !== undefined && plan.xs.includes(chosen) ? chosen : plan.xs[Math.floor(plan.xs.length / 2)]
  if (x === undefined) return null
  const { label, dimension } = plan.knob
  const at = `${label.toLowerCase()} ${writeQuantity({ value: x, dimension })}`
  const draw = (look: Theme) => fctLines(plan, points, x, look)
  const lines = draw(theme)
  const log = isWide(lines.flatMap((line) => Array.from(line.x)))
  return (
    <div>
      <label class="row small">
        {`Distribution at ${at}`}
        <input
          type="range"
          min={0}
          max={plan.xs.length - 1}
          value={plan.xs.indexOf(x)}
          aria-valuetext={at}
          onInput={({ currentTarget }) => {
            setChosen(plan.xs[Number(currentTarget.value)])
          }}
        />
      </label>
      <Plot
        title={`Completion times at ${at}`}
        x={{ label: 'Completion time', unit: 's', log }}
        y={{ label: 'Share of transfers', unit: '%' }}
        lines={lines}
        paper={() => draw('light')}
        note={`Transfers that completed, of ${plan.seeds} seeds together`}
      />
    </div>
  )
}

/** Groups other than the one whose knob is turned, and what they get. */
function Background({ drawn }: { drawn: Drawn }) {
  const { plan, points } = drawn
  const own = /^traffic\.([^.]+)\./.exec(plan.knob.name)?.[1]
  const groups = groupsOf(points)
  const others = groups.filter((group) => group !== (own ?? groups[0]))
  if (groups.length > 0 && others.length === 0) return <NoBackground />
  return (
    <>
      {others.map((group) => (
        <Means
          key={group}
          drawn={drawn}
          title={`Goodput that is left to ${group}`}
          label="Goodput"
          unit="bit/s"
          measure={groupTotalOf(group, 'goodput_bps')}
        />
      ))}
    </>
  )
}

function groupsOf(points: Point[]): string[] {
  const groups = points[0]?.summary.groups
  return Array.isArray(groups) ? groups.map((each) => String(each.group)) : []
}

function NoBackground() {
  const add = () => {
    const scenario = current.get()
    const lines = ['name = "background"', 'kind = "background"', 'flows = 2']
    current.set({ ...scenario, toml: addToArray(scenario.toml, 'traffic', lines) })
  }
  return (
    <div class="card">
      <p>Nothing runs in the background here. Add long flows to see what a scheme costs them.</p>
      <button type="button" onClick={add}>
        Add two long flows
      </button>
    </div>
  )
}

interface PlotProps {
  title: string
  x: Axis
  y: Axis
  lines: Line[]
  /** The lines in colours for white paper. */
  paper: () => Line[]
  note: string
  cursor?: string
}

function Plot({ title, x, y, lines, paper, note, cursor }: PlotProps) {
  const figure = (): Figure => ({ title, note, x, y, lines: paper() })
  const name = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return (
    <div class="plot">
      <Chart title={title} x={x} y={y} lines={lines} height={280} {...(cursor === undefined ? {} : { cursor })} />
      <Exports title={title} name={name} figure={figure} />
    </div>
  )
}
