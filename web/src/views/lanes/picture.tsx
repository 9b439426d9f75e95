/** The canvas of lanes: chosen, enlarged and read with a pointer or with keys. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Lane } from '../../trace/lanes'
import { useTheme } from '../../ui/theme'
import { AXIS, paintLanes, paintMarks, timeAt, type Frame, type Ink } from './paint'
import { moved, scaled, type Span } from './span'
import { describe } from './summary'

/** Height of a row if they need not all be in view. */
const TALL = 16
/** A row is never taller than this. */
const TALLEST = 22
/** Room for what scrolls them. */
const SCROLL = 24
/** A pointer that moved less has clicked. */
const CLICK = 5

interface Props {
  /** In their order. */
  lanes: Lane[]
  chosen: Lane | undefined
  choose: (lane: Lane | undefined) => void
  span: Span
  whole: Span
  setSpan: (span: Span | undefined) => void
  tall: boolean
  /** Where the cursor is. */
  at: number | undefined
  point: (time: number | undefined) => void
}

function useSize(place: { current: HTMLElement | null }) {
  const [size, setSize] = useState({ width: 0, height: 0 })
  useEffect(() => {
    const element = place.current
    if (!element) return
    const watcher = new ResizeObserver(() => {
      setSize({ width: element.clientWidth, height: element.clientHeight })
    })
    watcher.observe(element)
    return () => {
      watcher.disconnect()
    }
  }, [place])
  return size
}

/** Colours of the page's theme. */
function inkOf(element: Element): Ink {
  const style = getComputedStyle(element)
  const [page = '', text = '', soft = '', line = '', link = '', bad = '', part = ''] = [
    'page',
    'text',
    'soft',
    'line',
    'link',
    'bad',
    'part',
  ].map((name) => style.getPropertyValue(`--${name}`).trim())
  return { page, text, soft, line, link, bad, part }
}

/** Gives a canvas as many pixels as the device has there. */
function penOf(canvas: HTMLCanvasElement | null, { width, height, scale }: Frame): CanvasRenderingContext2D | null {
  if (!canvas) return null
  const [across, down] = [Math.round(width * scale), Math.round(height * scale)]
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across
    canvas.height = down
    canvas.style.width = `${width}px`
  }
  return canvas.getContext('2d')
}

/** Row of the chosen lane, and the scroll that keeps it in view. */
function useFrame(props: Props, place: { current: HTMLElement | null }) {
  const { lanes, chosen, span, tall } = props
  const size = useSize(place)
  const theme = useTheme()
  const [wanted, setTop] = useState(0)
  const { height } = size
  const room = Math.max(height - AXIS, 1)
  const pitch = tall ? TALL : Math.min(room / Math.max(lanes.length, 1), TALLEST)
  const most = tall ? Math.max(lanes.length * pitch - room, 0) : 0
  const width = Math.max(size.width - (most > 0 ? SCROLL : 0), 0)
  const top = Math.min(Math.max(wanted, 0), most)
  const row = chosen ? lanes.indexOf(chosen) : -1
  useEffect(() => {
    if (row < 0) return
    setTop((now) => Math.max(Math.min(now, row * pitch), (row + 1) * pitch - room))
  }, [row, pitch, room])
  const frame = useMemo((): Frame | undefined => {
    if (!place.current || width === 0) return undefined
    const scale = Math.min(devicePixelRatio, 2)
    return { width, height, scale, span, pitch, top, ink: inkOf(place.current) }
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the theme decides on the ink
  }, [width, height, span.from, span.to, pitch, top, theme, place])
  return { frame, row, top, most, setTop }
}

export function Picture(props: Props) {
  const { lanes, chosen, choose, at } = props
  const place = useRef<HTMLDivElement>(null)
  const base = useRef<HTMLCanvasElement>(null)
  const marks = useRef<HTMLCanvasElement>(null)
  const { frame, row, top, most, setTop } = useFrame(props, place)
  const [dragged, setDragged] = useState<Span | undefined>()
  useEffect(() => {
    const pen = frame && penOf(base.current, frame)
    if (pen) paintLanes(pen, lanes, frame)
  }, [frame, lanes])
  useEffect(() => {
    const pen = frame && penOf(marks.current, frame)
    if (pen) paintMarks(pen, { chosen: row, at, dragged }, frame)
  }, [frame, row, at, dragged])
  const pointer = usePointer(props, frame, setDragged)
  useWheel(place, props, frame, most > 0, setTop)
  return (
    <div
      ref={place}
      class="lanes-picture"
      role="listbox"
      tabIndex={0}
      aria-label={`Lanes of ${lanes.length} flows`}
      aria-describedby="lanes-keys"
      {...(chosen ? { 'aria-activedescendant': `lane-${chosen.flow}` } : {})}
      onKeyDown={(event) => {
        const act = actionFor(event, props, row)
        if (!act) return
        event.preventDefault()
        act()
      }}
      {...pointer}
    >
      <canvas ref={base} aria-hidden="true" />
      <canvas ref={marks} aria-hidden="true" />
      {near(lanes, row).map(({ lane, at: index }) => (
        <div
          key={lane.flow}
          id={`lane-${lane.flow}`}
          class="visually-hidden"
          role="option"
          aria-selected={lane === chosen}
          aria-posinset={index + 1}
          aria-setsize={lanes.length}
          onClick={() => {
            choose(lane)
          }}
        >
          {describe(lane)}
        </div>
      ))}
      {most > 0 && <Scroll top={top} most={most} setTop={setTop} />}
      <p id="lanes-keys" class="visually-hidden">
        Up and down choose a flow, left and right move in time, plus and minus change how much time is shown, 0 shows
        all.
      </p>
    </div>
  )
}

/** The options beside the chosen one are enough: a thousand would be in nobody's way but the browser's. */
function near(lanes: Lane[], row: number): { lane: Lane; at: number }[] {
  const first = Math.max(row - 1, 0)
  return lanes.slice(first, Math.max(row, 0) + 2).map((lane, index) => ({ lane, at: first + index }))
}

function Scroll({ top, most, setTop }: { top: number; most: number; setTop: (top: number) => void }) {
  return (
    <span
      class="lanes-scroll"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.stopPropagation()
      }}
    >
      <input
        type="range"
        tabIndex={-1}
        min={0}
        max={Math.ceil(most)}
        value={top}
        onInput={({ currentTarget }) => {
          setTop(Number(currentTarget.value))
        }}
      />
    </span>
  )
}

function actionFor(
  event: KeyboardEvent,
  { lanes, choose, span, setSpan }: Props,
  row: number,
): (() => void) | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined
  const go = (to: number) => () => {
    choose(lanes[Math.min(Math.max(to, 0), lanes.length - 1)])
  }
  const show = (next: Span | undefined) => () => {
    setSpan(next)
  }
  const middle = (span.from + span.to) / 2
  const actions: Record<string, () => void> = {
    ArrowDown: go(row + 1),
    ArrowUp: go(row - 1),
    PageDown: go(row + 10),
    PageUp: go(row - 10),
    Home: go(0),
    End: go(lanes.length - 1),
    ArrowRight: show(moved(span, 0.1)),
    ArrowLeft: show(moved(span, -0.1)),
    '+': show(scaled(span, 0.5, middle)),
    '-': show(scaled(span, 2, middle)),
    '0': show(undefined),
  }
  return actions[event.key]
}

/** A click chooses a lane, dragging a stretch of time; the cursor follows. */
function usePointer(
  { lanes, choose, setSpan, point }: Props,
  frame: Frame | undefined,
  setDragged: (span: Span | undefined) => void,
) {
  const from = useRef<number | undefined>(undefined)
  const placed = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    return { x: event.clientX - box.left, y: event.clientY - box.top }
  }
  const stretch = (one: number, other: number): Span | undefined =>
    frame && { from: timeAt(frame, Math.min(one, other)), to: timeAt(frame, Math.max(one, other)) }
  const onPointerDown = (event: PointerEvent) => {
    from.current = event.button === 0 ? placed(event).x : undefined
  }
  const onPointerMove = (event: PointerEvent) => {
    if (!frame) return
    const { x } = placed(event)
    point(timeAt(frame, x))
    const begun = from.current
    const drags = begun !== undefined && event.buttons === 1 && Math.abs(x - begun) >= CLICK
    setDragged(drags ? stretch(begun, x) : undefined)
  }
  const onPointerUp = (event: PointerEvent) => {
    const { x, y } = placed(event)
    const begun = from.current
    from.current = undefined
    setDragged(undefined)
    if (!frame || begun === undefined) return
    if (Math.abs(x - begun) >= CLICK) setSpan(stretch(begun, x))
    else if (y < frame.height - AXIS) choose(lanes[Math.floor((y + frame.top) / frame.pitch)])
  }
  const onPointerLeave = () => {
    from.current = undefined
    setDragged(undefined)
    point(undefined)
  }
  const onDblClick = () => {
    setSpan(undefined)
  }
  return { onPointerDown, onPointerMove, onPointerUp, onPointerLeave, onPointerCancel: onPointerLeave, onDblClick }
}

/** With Ctrl the wheel changes how much time is shown; without, it scrolls rows that are not all in view. */
function useWheel(
  place: { current: HTMLElement | null },
  props: Props,
  frame: Frame | undefined,
  scrolls: boolean,
  setTop: (change: (top: number) => number) => void,
): void {
  useEffect(() => {
    const element = place.current
    if (!element || !frame) return
    const turn = (event: WheelEvent) => {
      if (event.ctrlKey) {
        event.preventDefault()
        const around = timeAt(frame, event.clientX - element.getBoundingClientRect().left)
        props.setSpan(scaled(props.span, event.deltaY > 0 ? 1.25 : 0.8, around))
      } else if (scrolls && event.deltaY !== 0) {
        event.preventDefault()
        setTop((top) => top + event.deltaY)
      }
    }
    element.addEventListener('wheel', turn, { passive: false })
    return () => {
      element.removeEventListener('wheel', turn)
    }
  }, [place, props, frame, scrolls, setTop])
}
