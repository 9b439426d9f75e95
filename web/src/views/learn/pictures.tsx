/** What a step shows beside its words. */

import { useMemo } from 'preact/hooks'
import { tableOf, valuesOf } from '../../engine/simulate'
import type { Outcome } from '../../engine/types'
import { Chart, type Line } from '../../ui/chart'
import { withUnit } from '../../ui/numbers'
import { styleOf, type Style } from '../../ui/palette'
import { Swatch } from '../../ui/swatch'
import { DataTable, type TableColumn } from '../../ui/table'
import { useTheme } from '../../ui/theme'
import { queryOf, type Query } from './runs'
import { BUFFER_PACKETS, SENDERS } from './scenario'

export interface Named {
  scheme: string
  outcome: Outcome
}

/** The first round trips, in which the queue is decided; a timeout later it is empty. */
const SHOWN_S = 0.01

export function Queue({ runs }: { runs: Named[] }) {
  const theme = useTheme()
  const lines = useMemo(
    () =>
      runs.map(({ scheme, outcome }): Line => {
        const trace = tableOf(outcome, 'queue-trace')
        const time = valuesOf(trace, 'time_s')
        const shown = time.findIndex((each) => each > SHOWN_S)
        const to = shown < 0 ? time.length : shown
        const packets = valuesOf(trace, 'packets')
        return {
          label: scheme,
          style: styleOf(scheme, theme),
          x: time.slice(0, to),
          y: packets.slice(0, to),
          step: true,
        }
      }),
    [runs, theme],
  )
  return (
    <Chart
      title="The queue in the first 10 ms"
      x={{ label: 'Time', unit: 's' }}
      y={{ label: 'Queue', unit: 'pkt' }}
      lines={lines}
      limits={[{ label: `room for ${BUFFER_PACKETS} packets`, y: BUFFER_PACKETS }]}
      height={300}
    />
  )
}

export interface Curve {
  label: string
  scheme: string
  /** One for each number of senders. */
  outcomes: Outcome[]
  /** A curve to compare with. */
  reference: boolean
}

export function Sweep({ curves, senders }: { curves: Curve[]; senders: number }) {
  const theme = useTheme()
  const lines = useMemo(
    () =>
      curves.map(({ label, scheme, outcomes, reference }): Line => {
        const style: Style = { ...styleOf(scheme, theme), ...(reference ? { dash: [2, 3] } : {}) }
        return { label, style, x: SENDERS, y: outcomes.map((each) => queryOf(each).goodputBps), points: true }
      }),
    [curves, theme],
  )
  return (
    <Chart
      title="Goodput of the query, by the number of senders"
      x={{ label: 'Senders', unit: '1' }}
      y={{ label: 'Goodput', unit: 'bit/s' }}
      lines={lines}
      limits={[{ label: `${senders} senders`, x: senders }]}
      height={300}
    />
  )
}

interface Row {
  scheme: string
  query: Query
}

export function Costs({ runs }: { runs: Named[] }) {
  const theme = useTheme()
  const rows = runs.map(({ scheme, outcome }): Row => ({ scheme, query: queryOf(outcome) }))
  const columns: TableColumn<Row>[] = [
    {
      title: 'Scheme',
      value: (row) => row.scheme,
      cell: ({ scheme }) => (
        <>
          <Swatch style={styleOf(scheme, theme)} /> {scheme}
        </>
      ),
    },
    {
      title: 'Query',
      hint: 'From the first start to the last completion',
      value: ({ query }) => (query.complete === query.senders ? (query.seconds ?? null) : null),
      cell: ({ query }) =>
        query.complete === query.senders
          ? withUnit(query.seconds, 's')
          : `${query.complete} of ${query.senders} answers`,
      numeric: true,
    },
    { title: 'Lost', value: ({ query }) => query.drops, numeric: true },
    { title: 'Waited', hint: 'Answers that waited for a timer', value: ({ query }) => query.waited, numeric: true },
    {
      title: 'Long flows',
      hint: 'Goodput of the two long flows over the run',
      value: ({ query }) => query.backgroundBps ?? null,
      cell: ({ query }) => withUnit(query.backgroundBps, 'bit/s'),
      numeric: true,
    },
  ]
  return (
    <div class="learn-table">
      <DataTable caption="The same work under seven schemes, one seed" columns={columns} rows={rows} />
    </div>
  )
}
