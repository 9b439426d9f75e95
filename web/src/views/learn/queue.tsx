/** The queue in front of the client, while the answers come. */

import { useMemo } from 'preact/hooks'
import { tableOf, valuesOf } from '../../engine/simulate'
import { Chart, type Limit, type Line } from '../../ui/chart'
import { firstAbove } from '../../ui/chartdata'
import { styleOf } from '../../ui/palette'
import { useTheme } from '../../ui/theme'
import type { Contender } from './step'
import type { Run } from './runs'

/** What decides is over by then; a timeout later there is little to see. */
const SHOWN_S = 0.015

interface Props {
  runs: Run[]
  contenders: Contender[]
  limits: Limit[]
}

export function Queue({ runs, contenders, limits }: Props) {
  const theme = useTheme()
  const lines = useMemo(
    () =>
      contenders.map(({ label, scheme }, index): Line => {
        const { x, y } = traceOf(runs[index])
        return { label, style: styleOf(scheme, theme), x, y, step: true }
      }),
    [runs, contenders, theme],
  )
  return (
    <Chart
      title="The queue in the first 15 ms"
      x={{ label: 'Time since the question', unit: 's' }}
      y={{ label: 'Queue', unit: 'pkt' }}
      lines={lines}
      limits={limits}
      height={320}
    />
  )
}

/** The queue from the first start of an answer on. */
function traceOf(run: Run | undefined): { x: Float64Array; y: Float64Array } {
  const trace = run && tableOf(run.outcome, 'queue-trace')
  const time = valuesOf(trace, 'time_s')
  const from = run?.facts.from ?? 0
  const [first, end] = [Math.max(firstAbove(time, from) - 1, 0), firstAbove(time, from + SHOWN_S)]
  return {
    x: time.slice(first, end).map((each) => Math.max(each - from, 0)),
    y: valuesOf(trace, 'packets').slice(first, end),
  }
}
