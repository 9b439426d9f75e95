/** Queue and goodput over time, on one cursor. */

import { useMemo } from 'preact/hooks'
import { tableOf, valuesOf, type Batch, type Run } from '../../engine/simulate'
import type { Scenario } from '../../scenario/address'
import { isShared } from '../../scenario/knobs'
import { parseQuantity } from '../../scenario/quantity'
import { read, valueAt } from '../../scenario/toml'
import { queueOf } from '../../trace/queue'
import { Chart, type Limit, type Line } from '../../ui/chart'
import { styleOf } from '../../ui/palette'
import { useTheme } from '../../ui/theme'

interface Props {
  batch: Batch | undefined
  scenario: Scenario
}

const TIME = { label: 'Time', unit: 's' }

export function Charts({ batch, scenario: { toml } }: Props) {
  const theme = useTheme()
  const drawn = useMemo(() => {
    const runs = batch?.runs ?? []
    const line = (of: (run: Run) => Omit<Line, 'label' | 'style'>) =>
      runs.map((run): Line => ({ ...of(run), label: run.scheme, style: styleOf(run.scheme, theme) }))
    return { queue: line(({ outcome }) => queueOf(outcome)), goodput: line(goodputOf) }
  }, [batch, theme])
  const limits = useMemo(() => limitsOf(toml), [toml])
  return (
    <div class="charts">
      <Chart
        title="Queue at the bottleneck"
        x={TIME}
        y={{ label: 'Queue', unit: 'pkt' }}
        lines={drawn.queue}
        limits={limits}
        cursor="play"
      />
      <Chart
        title="Goodput of all flows, payload in order"
        x={TIME}
        y={{ label: 'Goodput', unit: 'bit/s' }}
        lines={drawn.goodput}
        cursor="play"
      />
      <p class="soft small">Drag across a plot to look closer; a double click shows all again.</p>
    </div>
  )
}

/** Bins have a row per group: their sums. */
function goodputOf({ outcome }: Run): Omit<Line, 'label' | 'style'> {
  const bins = tableOf(outcome, 'bins')
  const sums = new Map<number, number>()
  const rates = valuesOf(bins, 'goodput_bps')
  valuesOf(bins, 'time_s').forEach((time, index) => {
    const rate = rates[index] ?? 0
    sums.set(time, (sums.get(time) ?? 0) + (Number.isNaN(rate) ? 0 : rate))
  })
  return { x: [...sums.keys()], y: [...sums.values()], step: true }
}

/** The buffer, if ports have their own and it is one in packets: the trace counts those. */
function limitsOf(toml: string): Limit[] {
  const document = read(toml)
  if (isShared(document)) return []
  const buffer = parseQuantity(String(valueAt(document, ['network', 'buffer']) ?? ''))
  return buffer?.dimension === 'packets' ? [{ label: `buffer, ${buffer.value} packets`, y: buffer.value }] : []
}
