/** The chosen flow: what its sender knew, beside the queue, on one cursor with the lanes. */

import { useMemo } from 'preact/hooks'
import type { Lane } from '../../trace/lanes'
import { queueOf } from '../../trace/queue'
import type { Trace } from '../../trace/session'
import { Chart, type Line } from '../../ui/chart'
import { styles } from '../../ui/palette'
import { useTheme } from '../../ui/theme'
import { PLOTS, recordingOf, type Plot, type Recording } from './probes'
import type { Span } from './span'
import { describe } from './summary'

/** All charts of the view, and the lanes, have one cursor. */
export const CURSOR = 'lanes'

/** Each quantity has a style of its own, whichever others are there. */
const LABELS = PLOTS.flatMap(({ quantities }) => quantities.map(({ label }) => label))

const TIME = { label: 'Time', unit: 's' }
const HEIGHT = 200

interface Props {
  trace: Trace
  lane: Lane
  span: Span
  setSpan: (span: Span | undefined) => void
  moved: (time: number | undefined) => void
}

export function Detail({ trace, lane, span, setSpan, moved }: Props) {
  const recording = useMemo(() => recordingOf(trace, lane), [trace, lane])
  const shared = { span, onSpan: setSpan, onMove: moved, cursor: CURSOR, x: TIME, height: HEIGHT }
  const theme = useTheme()
  const queue = useMemo((): Line[] => {
    const bottleneck = trace.topology.links.find((link) => link.bottleneck)?.name
    const style = styles([...LABELS, 'queue'], theme).at(-1)
    return style ? [{ ...queueOf(trace.outcome, bottleneck), label: 'queue', style }] : []
  }, [trace, theme])
  const missing = PLOTS.flatMap(({ quantities }) => quantities.map(recording.absent)).filter(Boolean)
  return (
    <section class="lanes-detail" aria-label="The chosen flow">
      <h2>{describe(lane)}</h2>
      <p class="soft small lanes-missing">
        {missing.length > 0 ? `${missing.join('; ')}.` : 'All that is drawn here was recorded.'} Values are of the
        flow&rsquo;s connection, which other flows may use before and after it.
      </p>
      <div class="lanes-charts">
        {PLOTS.map((plot) => (
          <Lines key={plot.title} plot={plot} recording={recording} shared={shared} />
        ))}
        {queue.some(({ x }) => x.length > 0) ? (
          <Chart {...shared} title="Queue at the bottleneck" y={{ label: 'Queue', unit: 'pkt' }} lines={queue} />
        ) : (
          <Empty title="Queue at the bottleneck" why="Queue: not recorded (measure.queue-trace)" />
        )}
      </div>
    </section>
  )
}

interface LinesProps {
  plot: Plot
  recording: Recording
  shared: Omit<Parameters<typeof Chart>[0], 'title' | 'y' | 'lines'>
}

function Lines({ plot, recording, shared }: LinesProps) {
  const theme = useTheme()
  const lines = useMemo(() => {
    const all = styles(LABELS, theme)
    return plot.quantities.flatMap(({ probe, label }): Line[] => {
      const points = recording.found.get(probe)
      const style = all[LABELS.indexOf(label)]
      return points && style ? [{ ...points, label, style }] : []
    })
  }, [plot, recording, theme])
  if (lines.length === 0) return <Empty title={plot.title} why={plot.quantities.map(recording.absent).join('; ')} />
  return <Chart {...shared} title={plot.title} y={{ label: plot.label, unit: plot.unit }} lines={lines} />
}

/** As large as a chart, so that nothing moves when another flow has one. */
function Empty({ title, why }: { title: string; why: string }) {
  return (
    <figure class="chart">
      <figcaption class="chart-title">{title}</figcaption>
      <p class="lanes-empty soft" style={{ height: `${HEIGHT}px` }}>
        {why}
      </p>
    </figure>
  )
}
