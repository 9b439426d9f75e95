/** The sliders. Each also takes a typed value. */

import { useMemo } from 'preact/hooks'
import type { Registry, ResolvedValue } from '../../engine/types'
import { knobsOf, quantityOf, stopOf, turn, type Knob } from '../../scenario/knobs'
import { parseQuantity, writeQuantity } from '../../scenario/quantity'
import { read } from '../../scenario/toml'

interface Props {
  registry: Registry | undefined
  toml: string
  schemes: string[]
  /** In effect, by path: where a slider stands that the file says nothing about. */
  values: Map<string, ResolvedValue> | undefined
  change: (toml: string) => void
}

export function Knobs({ registry, toml, schemes, values, change }: Props) {
  const document = useMemo(() => read(toml), [toml])
  const knobs = registry ? knobsOf(registry, document, schemes, (name) => values?.get(name)?.value) : []
  return (
    <fieldset class="knobs" disabled={document.broken}>
      <legend class="visually-hidden">Sliders</legend>
      {knobs.map((knob) => (
        <Slider
          key={knob.id}
          knob={knob}
          inEffect={values?.get(knob.name)?.value}
          set={(value) => {
            change(turn(toml, knob, value))
          }}
        />
      ))}
    </fieldset>
  )
}

interface SliderProps {
  knob: Knob
  inEffect: string | undefined
  set: (value: number) => void
}

function Slider({ knob, inEffect, set }: SliderProps) {
  const { id, label, stops, dimension } = knob
  const value = knob.value ?? quantityOf(knob, inEffect)?.value
  const text = value === undefined ? '' : writeQuantity({ value, dimension })
  const typed = (input: string) => {
    const quantity = parseQuantity(input)
    if (quantity?.dimension === dimension) set(quantity.value)
  }
  return (
    <div class="knob">
      <label for={`knob-${id}`}>{label}</label>
      <input
        class="knob-value"
        aria-label={`${label}, typed`}
        value={text}
        placeholder={inEffect ?? ''}
        size={7}
        onChange={({ currentTarget }) => {
          typed(currentTarget.value)
          currentTarget.value = text
        }}
      />
      <input
        id={`knob-${id}`}
        type="range"
        min={0}
        max={stops.length - 1}
        step={1}
        value={value === undefined ? 0 : stopOf(stops, value)}
        aria-valuetext={text || 'default'}
        onInput={({ currentTarget }) => {
          const stop = stops[Number(currentTarget.value)]
          if (stop !== undefined && stop !== value) set(stop)
        }}
      />
    </div>
  )
}
