/** The few things that a step lets one turn. */

import { SENDERS, THRESHOLDS, TIMERS, WINDOWS, type Values } from './scenario'
import { PAPERS, type Control, type Step } from './steps'

interface Props {
  step: Step
  values: Values
  change: (values: Values) => void
}

export function Controls({ step, values, change }: Props) {
  return (
    <div class="learn-controls">
      {step.controls.map((control) => (
        <One key={control} control={control} values={values} change={change} />
      ))}
    </div>
  )
}

interface OneProps {
  control: Control
  values: Values
  change: (values: Values) => void
}

function One({ control, values, change }: OneProps) {
  switch (control) {
    case 'senders':
      return (
        <Slider
          label="Senders"
          stops={SENDERS}
          value={values.senders}
          shown={String}
          choose={(senders) => {
            change({ ...values, senders })
          }}
        />
      )
    case 'timer':
      return (
        <Slider
          label="Minimum of the timer"
          stops={TIMERS}
          value={values.timer}
          shown={(timer) => timer.replace('us', ' µs').replace('ms', ' ms')}
          choose={(timer) => {
            change({ ...values, timer })
          }}
        />
      )
    case 'threshold':
      return (
        <Slider
          label="Marking threshold"
          stops={THRESHOLDS}
          value={values.threshold}
          shown={(packets) => `${packets} packets`}
          choose={(threshold) => {
            change({ ...values, threshold })
          }}
        />
      )
    case 'window':
      return (
        <Slider
          label="First window"
          stops={WINDOWS}
          value={values.window}
          shown={(segments) => (segments === 1 ? '1 segment' : `${segments} segments`)}
          choose={(window) => {
            change({ ...values, window })
          }}
        />
      )
    case 'paper':
      return (
        <div class="chips" role="group" aria-label="Paper">
          {PAPERS.map((paper) => (
            <button
              key={paper.scheme}
              type="button"
              class="chip"
              aria-pressed={paper.scheme === values.scheme}
              onClick={() => {
                change({ ...values, scheme: paper.scheme })
              }}
            >
              {paper.title}
            </button>
          ))}
        </div>
      )
  }
}

interface SliderProps<Value> {
  label: string
  stops: Value[]
  value: Value
  shown: (value: Value) => string
  choose: (value: Value) => void
}

function Slider<Value>({ label, stops, value, shown, choose }: SliderProps<Value>) {
  return (
    <label class="learn-slider">
      <span class="label">{label}</span>
      <span class="learn-value">{shown(value)}</span>
      <input
        type="range"
        min={0}
        max={stops.length - 1}
        value={stops.indexOf(value)}
        aria-valuetext={shown(value)}
        onInput={({ currentTarget }) => {
          const next = stops[Number(currentTarget.value)]
          if (next !== undefined) choose(next)
        }}
      />
    </label>
  )
}
