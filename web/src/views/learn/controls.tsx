/** The few things that a step lets one turn. */

import { valueOf, type Control, type Step, type Values } from './step'

interface Props {
  step: Step
  values: Values
  change: (values: Values) => void
}

export function Controls({ step, values, change }: Props) {
  return (
    <div class="learn-controls">
      {step.controls.map((control) => {
        const Shown = control.kind === 'slider' ? Slider : Choice
        return (
          <Shown
            key={control.key}
            control={control}
            value={valueOf(values, control.key)}
            set={(value) => {
              change({ ...values, [control.key]: value })
            }}
          />
        )
      })}
    </div>
  )
}

interface OneProps {
  control: Control
  value: string
  set: (value: string) => void
}

function Slider({ control: { label, stops }, value, set }: OneProps) {
  const at = stops.findIndex((stop) => stop.value === value)
  const shown = stops[at]?.shown ?? ''
  return (
    <label class="learn-slider">
      <span>{label}</span>
      <span class="learn-value">{shown}</span>
      <input
        type="range"
        aria-label={label}
        min={0}
        max={stops.length - 1}
        step={1}
        value={at}
        aria-valuetext={shown}
        onInput={({ currentTarget }) => {
          const stop = stops[Number(currentTarget.value)]
          if (stop && stop.value !== value) set(stop.value)
        }}
      />
    </label>
  )
}

function Choice({ control: { key, label, stops }, value, set }: OneProps) {
  return (
    <div>
      <span id={`choice-${key}`}>{label}</span>
      <div class="chips" role="group" aria-labelledby={`choice-${key}`}>
        {stops.map((stop) => (
          <button
            key={stop.value}
            type="button"
            class="chip"
            aria-pressed={stop.value === value}
            onClick={() => {
              set(stop.value)
            }}
          >
            {stop.shown}
          </button>
        ))}
      </div>
    </div>
  )
}
