/** The lanes of a run with what orders and enlarges them, and the chosen one's charts. */

import { useCallback, useMemo, useState } from 'preact/hooks'
import { useParams } from '../../scenario/params'
import { lanesOf, STATES, type Lane } from '../../trace/lanes'
import type { Trace } from '../../trace/session'
import { pointAt } from '../../ui/chart'
import { withUnit } from '../../ui/numbers'
import { DataTable, type TableColumn } from '../../ui/table'
import { CURSOR, Detail } from './detail'
import { isOrder, ordered, ORDERS, type Order } from './order'
import { Picture } from './picture'
import { moved, scaled, within, type Span } from './span'
import { inWords, mostTelling, percent, totalsOf } from './summary'

const ROWS = { all: 'all in view', tall: 'tall, to scroll' } as const

/** A span in the address: two numbers of seconds. */
function spanIn(params: URLSearchParams, whole: Span): Span {
  const [from, to] = ['from', 'to'].map((name) => parseFloat(params.get(name) ?? ''))
  if (from === undefined || to === undefined || !(from < to) || !(from < whole.to) || !(to > whole.from)) return whole
  return within({ from, to }, whole)
}

/** What somebody chose, as the address says. */
function useChoice(lanes: Lane[], whole: Span) {
  const [params, change] = useParams()
  const by = params.get('by')
  const order: Order = isOrder(by) ? by : 'completion'
  const sorted = useMemo(() => ordered(lanes, order), [lanes, order])
  const lane = params.get('lane')
  const wanted = lane === null ? undefined : sorted.find(({ flow }) => String(flow) === lane)
  const chosen = wanted ?? mostTelling(lanes)
  const span = spanIn(params, whole)
  const setSpan = (next: Span | undefined) => {
    const put = next && within(next, whole)
    const all = !put || (put.from === whole.from && put.to === whole.to)
    change(all ? { from: '', to: '' } : { from: put.from.toPrecision(9), to: put.to.toPrecision(9) })
  }
  const choose = (next: Lane | undefined) => {
    if (next) change({ lane: String(next.flow) })
  }
  const setOrder = (next: string) => {
    change({ by: next === 'completion' ? '' : next })
  }
  return { sorted, order, setOrder, chosen, choose, span, setSpan }
}

export function Panel({ trace }: { trace: Trace }) {
  const lanes = useMemo(() => lanesOf(trace), [trace])
  const whole = useMemo(() => wholeOf(lanes), [lanes])
  const { sorted, order, setOrder, chosen, choose, span, setSpan } = useChoice(lanes, whole)
  const [tall, setTall] = useState(false)
  const [at, setAt] = useState<number | undefined>()
  const point = useCallback((time: number | undefined) => {
    setAt(time)
    pointAt(CURSOR, time)
  }, [])
  const known = trace.timeouts.flow.filter((flow) => flow >= 0).length
  const counted = lanes.reduce((sum, { timeouts }) => sum + timeouts, 0)
  return (
    <div class="lanes">
      <p class="lanes-words" role="status">
        {inWords(lanes, known, counted)}
      </p>
      <div class="lanes-controls">
        <Choice name="Sort by" value={order} values={ORDERS} choose={setOrder} />
        <Choice
          name="Rows"
          value={tall ? 'tall' : 'all'}
          values={ROWS}
          choose={(value) => {
            setTall(value === 'tall')
          }}
        />
        <Zoom span={span} whole={whole} setSpan={setSpan} chosen={chosen} />
        <Chosen lanes={sorted} chosen={chosen} choose={choose} />
      </div>
      <Picture {...{ lanes: sorted, chosen, choose, span, whole, setSpan, tall, at, point }} />
      <Legend lanes={lanes} />
      {chosen && <Detail trace={trace} lane={chosen} span={span} setSpan={setSpan} moved={setAt} />}
      <details>
        <summary>All flows in numbers</summary>
        <DataTable
          caption="Flows, with the time that each spent in each state"
          columns={COLUMNS}
          rows={sorted}
          limit={100}
        />
      </details>
    </div>
  )
}

/** From the first start to the last end. */
function wholeOf(lanes: Lane[]): Span {
  const from = lanes.reduce((least, { start }) => Math.min(least, start), Infinity)
  const to = lanes.reduce((most, { end }) => Math.max(most, end), -Infinity)
  return from < to ? { from, to } : { from: 0, to: 1 }
}

interface ChoiceProps {
  name: string
  value: string
  values: Record<string, string>
  choose: (value: string) => void
}

function Choice({ name, value, values, choose }: ChoiceProps) {
  return (
    <label class="row">
      {name}
      <select
        value={value}
        onChange={({ currentTarget }) => {
          choose(currentTarget.value)
        }}
      >
        {Object.entries(values).map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

interface ZoomProps {
  span: Span
  whole: Span
  setSpan: (span: Span | undefined) => void
  chosen: Lane | undefined
}

function Zoom({ span, whole, setSpan, chosen }: ZoomProps) {
  const middle = (span.from + span.to) / 2
  const all = span.from === whole.from && span.to === whole.to
  const buttons: [string, string, boolean, () => Span | undefined][] = [
    ['◂', 'Earlier', span.from <= whole.from, () => moved(span, -0.5)],
    ['−', 'Show more time', all, () => scaled(span, 2, middle)],
    ['+', 'Show less time', false, () => scaled(span, 0.5, middle)],
    ['▸', 'Later', span.to >= whole.to, () => moved(span, 0.5)],
    ['All', 'Show all time', all, () => undefined],
    [
      'Its time',
      'Its time: show when the chosen flow lasted',
      !chosen,
      () => chosen && { from: chosen.start, to: chosen.end },
    ],
  ]
  return (
    <span class="row" role="group" aria-label="Time in view">
      Time
      <span class="pair">
        {buttons.map(([text, name, off, next]) => (
          <button
            key={name}
            type="button"
            aria-label={name}
            title={name}
            disabled={off}
            onClick={() => {
              setSpan(next())
            }}
          >
            {text}
          </button>
        ))}
      </span>
    </span>
  )
}

interface ChosenProps {
  lanes: Lane[]
  chosen: Lane | undefined
  choose: (lane: Lane | undefined) => void
}

/** A number to type, for who knows which flow it is. */
function Chosen({ lanes, chosen, choose }: ChosenProps) {
  const last = lanes.reduce((most, { flow }) => Math.max(most, flow), 0)
  return (
    <label class="row">
      Chosen flow
      <input
        type="number"
        class="lanes-number"
        min={0}
        max={last}
        value={chosen?.flow ?? ''}
        onChange={({ currentTarget }) => {
          choose(lanes.find(({ flow }) => String(flow) === currentTarget.value))
        }}
      />
    </label>
  )
}

/** What shapes and colours mean, with the share of all flows' time that each has. */
function Legend({ lanes }: { lanes: Lane[] }) {
  const { shares } = useMemo(() => totalsOf(lanes), [lanes])
  return (
    <ul class="legend small lanes-legend" aria-label="States, with their shares of the time of all flows">
      {STATES.map(({ name, meaning }, state) => (
        <li key={name} title={meaning}>
          <span class={`lanes-key state-${name.toLowerCase()}`} aria-hidden="true" /> {name}{' '}
          <span class="soft">{percent(shares[state] ?? 0)}</span>
        </li>
      ))}
      <li title="its last byte has arrived">
        <span class="lanes-key state-done" aria-hidden="true" /> Done
      </li>
    </ul>
  )
}

const COLUMNS: TableColumn<Lane>[] = [
  { title: 'Flow', value: ({ flow }) => flow, numeric: true },
  { title: 'Sender', value: ({ source }) => source },
  { title: 'Group', value: ({ group }) => group },
  { title: 'Start', value: ({ start }) => start, cell: ({ start }) => withUnit(start, 's'), numeric: true },
  {
    title: 'Took',
    hint: 'from its start until its last byte arrived',
    value: ({ start, end, completed }) => (completed ? end - start : null),
    cell: ({ start, end, completed }) => (completed ? withUnit(end - start, 's') : 'not complete'),
    numeric: true,
  },
  { title: 'Timeouts', value: ({ timeouts }) => timeouts, numeric: true },
  { title: 'Sent again', value: ({ retransmissions }) => retransmissions, numeric: true },
  ...STATES.map(({ name, meaning }, state): TableColumn<Lane> => ({
    title: name === 'Timeout' ? 'In timeouts' : name,
    hint: meaning,
    value: ({ spent }) => spent[state] ?? 0,
    cell: ({ spent }) => withUnit(spent[state] ?? 0, 's'),
    numeric: true,
  })),
]
