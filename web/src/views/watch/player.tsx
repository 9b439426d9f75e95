/** A run as it is watched: pictures, controls, and what they say in numbers. */

import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Trace } from '../../trace/session'
import { useTheme } from '../../ui/theme'
import { Clock, comfortable } from './clock'
import { Controls, type Jump } from './controls'
import { Legend } from './legend'
import { Readout } from './readout'
import type { Counts } from './scene'
import { Stage, watchedOf, type Watched } from './stage'

/** Numbers change no faster than one can read them. */
const READ_MS = 120
/** After a pause, such as in a hidden tab, time goes on from where it was. */
const LONGEST_FRAME_S = 0.1

export interface Moment extends Counts {
  time: number
  playing: boolean
  /** Frames in the last second, while time runs. */
  frames: number
}

function useCanvases() {
  return {
    network: useRef<HTMLCanvasElement>(null),
    packets: useRef<HTMLCanvasElement>(null),
    whole: useRef<HTMLCanvasElement>(null),
    near: useRef<HTMLCanvasElement>(null),
  }
}

type CanvasRefs = ReturnType<typeof useCanvases>

/** The stage, built anew when its size, its theme or its colours change. */
function useStage(refs: CanvasRefs, watched: Watched, byFlow: boolean, painted: () => void) {
  const theme = useTheme()
  const stage = useRef<Stage | undefined>(undefined)
  const { network, packets, whole, near } = refs
  useEffect(() => {
    const holder = packets.current
    if (!holder || !network.current || !whole.current || !near.current) return
    const canvases = { network: network.current, packets: holder, whole: whole.current, near: near.current }
    const build = () => {
      stage.current = new Stage(canvases, watched, theme, byFlow)
      painted()
    }
    build()
    const watcher = new ResizeObserver(build)
    watcher.observe(holder)
    return () => {
      watcher.disconnect()
    }
  }, [watched, theme, byFlow, painted, network, packets, whole, near])
  return stage
}

/** Paints, and runs the clock while it plays. */
function usePlayback(clock: Clock, refs: CanvasRefs, watched: Watched, byFlow: boolean) {
  const [moment, setMoment] = useState<Moment>({ time: 0, playing: false, frames: 0, onLinks: 0, waiting: 0 })
  const frames = useRef(0)
  const paintRef = useRef<() => void>(() => undefined)
  const painted = useCallback(() => {
    paintRef.current()
  }, [])
  const stage = useStage(refs, watched, byFlow, painted)
  const paint = useCallback(() => {
    const counts = stage.current?.paint(clock) ?? { onLinks: 0, waiting: 0 }
    setMoment({ ...counts, time: clock.time, playing: clock.playing, frames: frames.current })
  }, [clock, stage])
  paintRef.current = paint

  useEffect(() => {
    paint()
  }, [paint])

  const play = useCallback(() => {
    clock.playing = !clock.playing
    if (clock.playing && clock.time >= clock.until) clock.seek(0)
    let last = performance.now()
    let read = last
    let drawn = 0
    const frame = (now: number) => {
      clock.advance(Math.min((now - last) / 1000, LONGEST_FRAME_S))
      last = now
      drawn++
      if (!clock.playing) {
        paint()
        return
      }
      const counts = stage.current?.paint(clock)
      if (now - read > READ_MS && counts) {
        frames.current = Math.round((drawn * 1000) / (now - read))
        setMoment({ ...counts, time: clock.time, playing: true, frames: frames.current })
        read = now
        drawn = 0
      }
      requestAnimationFrame(frame)
    }
    if (clock.playing) requestAnimationFrame(frame)
    else paint()
  }, [clock, paint, stage])

  useEffect(
    () => () => {
      clock.playing = false
    },
    [clock],
  )
  return { moment, paint, play }
}

export function Player({ trace }: { trace: Trace }) {
  const watched = useMemo(() => watchedOf(trace), [trace])
  const bottleneck = trace.topology.links.find((link) => link.bottleneck) ?? trace.topology.links[0]
  const latency = bottleneck ? bottleneck.delay_s + 12_000 / bottleneck.rate_bps : 1e-5
  const clock = useMemo(() => {
    const made = new Clock(trace.hops, comfortable(latency))
    // The first loss is what one came to see; an empty network is not.
    made.seek(trace.hops.drops.time[0] ?? 0)
    return made
  }, [trace, latency])
  const [byFlow, setByFlow] = useState(false)
  const refs = useCanvases()
  const { moment, paint, play } = usePlayback(clock, refs, watched, byFlow)
  const { drops, marks } = trace.hops
  const jumps: Jump[] = useMemo(
    () => [
      { name: 'drop', key: 'd', times: drops.time },
      { name: 'mark', key: 'm', times: marks.time },
      { name: 'timeout', key: 't', times: trace.timeouts.time },
    ],
    [drops, marks, trace],
  )
  return (
    <div class="watch">
      <Controls
        clock={clock}
        moment={moment}
        jumps={jumps}
        play={play}
        changed={paint}
        byFlow={byFlow}
        setByFlow={setByFlow}
      />
      <div class="stage" role="img" aria-label={pictured(trace, moment)}>
        <canvas ref={refs.network} />
        <canvas ref={refs.packets} class="packets" />
      </div>
      <Legend byFlow={byFlow} watched={watched} />
      <Strips refs={refs} clock={clock} moment={moment} changed={paint} />
      <Readout moment={moment} watched={watched} jumps={jumps} />
    </div>
  )
}

function pictured({ topology }: Trace, { onLinks, waiting }: Moment): string {
  const hosts = topology.nodes.filter((node) => node.kind === 'host').length
  return `The network: ${hosts} hosts and ${topology.nodes.length - hosts} switches; ${onLinks} packets on links, ${waiting} at ports`
}

interface StripsProps {
  refs: CanvasRefs
  clock: Clock
  moment: Moment
  changed: () => void
}

/** Steps of the slider: as fine as a large screen. */
const STEPS = 4000

function Strips({ refs, clock, moment, changed }: StripsProps) {
  const seek = (share: number) => {
    clock.playing = false
    clock.seek(share * clock.until)
    changed()
  }
  const drag = (event: PointerEvent) => {
    if (event.buttons !== 1) return
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    seek((event.clientX - box.left) / box.width)
  }
  return (
    <div class="strips">
      <p class="small strip-title">
        <span>Queue at the bottleneck, whole run</span>
        <span class="soft">ticks: timeouts, drops, marks</span>
      </p>
      <canvas ref={refs.whole} class="strip" aria-hidden="true" onPointerDown={drag} onPointerMove={drag} />
      <input
        type="range"
        class="scrub"
        aria-label="Time"
        aria-valuetext={`${(moment.time * 1000).toFixed(3)} milliseconds`}
        min={0}
        max={STEPS}
        value={clock.until > 0 ? Math.round((moment.time / clock.until) * STEPS) : 0}
        onInput={({ currentTarget }) => {
          seek(Number(currentTarget.value) / STEPS)
        }}
      />
      <p class="small strip-title">
        <span>Around the cursor</span>
      </p>
      <canvas ref={refs.near} class="strip near" aria-hidden="true" />
    </div>
  )
}
