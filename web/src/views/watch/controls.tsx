/** Everything that moves time: buttons, and a key for each. */

import { useEffect } from 'preact/hooks'
import { withUnit } from '../../ui/numbers'
import { SPEEDS, type Clock } from './clock'
import type { Moment } from './player'

export interface Jump {
  name: string
  key: string
  times: Float64Array
}

interface Props {
  clock: Clock
  moment: Moment
  jumps: Jump[]
  play: () => void
  /** Time or speed is another one. */
  changed: () => void
  byFlow: boolean
  setByFlow: (byFlow: boolean) => void
}

/** What each key does; with shift, jumps go back. */
function actionFor(event: KeyboardEvent, { clock, jumps, play, changed }: Props): (() => void) | undefined {
  const then = (act: () => void) => () => {
    act()
    changed()
  }
  const jump = jumps.find((each) => each.key === event.key.toLowerCase())
  if (jump) return then(() => clock.jump(jump.times, !event.shiftKey))
  const others: Record<string, () => void> = {
    ' ': play,
    k: play,
    ArrowRight: then(() => clock.step(true)),
    ArrowLeft: then(() => clock.step(false)),
    '.': then(() => clock.step(true)),
    ',': then(() => clock.step(false)),
    '+': then(() => {
      changeSpeed(clock, 1)
    }),
    '-': then(() => {
      changeSpeed(clock, -1)
    }),
    Home: then(() => {
      clock.seek(0)
    }),
    End: then(() => {
      clock.seek(clock.until)
    }),
  }
  return others[event.key]
}

function speedIndex(clock: Clock): number {
  return SPEEDS.findIndex((speed) => speed >= clock.speed * 0.999)
}

function changeSpeed(clock: Clock, by: number): void {
  clock.speed = SPEEDS[Math.min(Math.max(speedIndex(clock) + by, 0), SPEEDS.length - 1)] ?? clock.speed
}

/** Keys belong to the field in which somebody types, to sliders and buttons, and to the browser. */
function isTaken(event: KeyboardEvent): boolean {
  const { target } = event
  if (event.ctrlKey || event.metaKey || event.altKey) return true
  if (!(target instanceof HTMLElement)) return false
  if (target.closest('textarea, select, input:not([type=checkbox])')) return true
  return event.key === ' ' && target.closest('button, a, summary, input') !== null
}

function useKeys(props: Props): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const action = isTaken(event) ? undefined : actionFor(event, props)
      if (!action) return
      event.preventDefault()
      action()
    }
    addEventListener('keydown', press)
    return () => {
      removeEventListener('keydown', press)
    }
  }, [props])
}

export function Controls(props: Props) {
  const { clock, moment, jumps, play, changed } = props
  useKeys(props)
  const step = (forward: boolean) => {
    clock.step(forward)
    changed()
  }
  return (
    <div class="watch-controls" role="group" aria-label="Time">
      <button type="button" class="primary play-button" onClick={play} title="Space">
        {moment.playing ? 'Pause' : 'Play'}
      </button>
      <span class="pair" role="group" aria-label="Step">
        <button
          type="button"
          aria-label="Back by one arrival"
          title="Left arrow"
          onClick={() => {
            step(false)
          }}
        >
          ◂
        </button>
        <span class="pair-name">step</span>
        <button
          type="button"
          aria-label="On by one arrival"
          title="Right arrow"
          onClick={() => {
            step(true)
          }}
        >
          ▸
        </button>
      </span>
      {jumps.map((jump) => (
        <JumpButtons key={jump.name} jump={jump} clock={clock} changed={changed} />
      ))}
      <Speed clock={clock} changed={changed} />
      <Choices {...props} />
      <Keys />
    </div>
  )
}

function JumpButtons({ jump, clock, changed }: { jump: Jump; clock: Clock; changed: () => void }) {
  const none = jump.times.length === 0
  const go = (forward: boolean) => {
    clock.jump(jump.times, forward)
    changed()
  }
  return (
    <span class="pair" role="group" aria-label={jump.name}>
      <button
        type="button"
        disabled={none}
        aria-label={`Previous ${jump.name}`}
        title={`Shift + ${jump.key.toUpperCase()}`}
        onClick={() => {
          go(false)
        }}
      >
        ◂
      </button>
      <span class="pair-name">{none ? `no ${jump.name}` : jump.name}</span>
      <button
        type="button"
        disabled={none}
        aria-label={`Next ${jump.name}`}
        title={jump.key.toUpperCase()}
        onClick={() => {
          go(true)
        }}
      >
        ▸
      </button>
    </span>
  )
}

function Speed({ clock, changed }: { clock: Clock; changed: () => void }) {
  const text = `${withUnit(clock.speed, 's')} per second`
  return (
    <label class="row speed">
      Speed
      <input
        type="range"
        min={0}
        max={SPEEDS.length - 1}
        value={speedIndex(clock)}
        aria-valuetext={text}
        title="+ and -"
        onInput={({ currentTarget }) => {
          clock.speed = SPEEDS[Number(currentTarget.value)] ?? clock.speed
          changed()
        }}
      />
      <span class="speed-text">{text}</span>
    </label>
  )
}

function Choices({ clock, changed, byFlow, setByFlow }: Props) {
  return (
    <>
      <label class="row">
        <input
          type="checkbox"
          checked={clock.skipsSilence}
          onChange={({ currentTarget }) => {
            clock.skipsSilence = currentTarget.checked
            changed()
          }}
        />
        Skip silence
      </label>
      <label class="row">
        Colour by
        <select
          value={byFlow ? 'flow' : 'class'}
          onChange={({ currentTarget }) => {
            setByFlow(currentTarget.value === 'flow')
          }}
        >
          <option value="class">kind of packet</option>
          <option value="flow">connection</option>
        </select>
      </label>
    </>
  )
}

function Keys() {
  return (
    <details class="keys small">
      <summary>Keys</summary>
      <ul>
        <li>Space: play, pause</li>
        <li>← →: step by an arrival</li>
        <li>D, M, T: next drop, mark, timeout; with Shift the one before</li>
        <li>+ −: speed</li>
        <li>Home, End: start, end</li>
      </ul>
    </details>
  )
}
