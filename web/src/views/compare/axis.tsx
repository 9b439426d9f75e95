/** Which value is varied, and over which values. */

import { useEffect, useState } from 'preact/hooks'
import { roundStops, type Knob } from '../../scenario/knobs'
import { parseQuantity, writeQuantity } from '../../scenario/quantity'

interface Props {
  knobs: Knob[]
  knob: Knob
  choose: (id: string) => void
  xs: number[]
  setXs: (xs: number[]) => void
}

/** About so many values to begin with. */
const VALUES = 12

/** Numbers of servers get denser where collapses begin; other knobs are sampled evenly along their sliders. */
function firstValues({ dimension, stops }: Knob): number[] {
  if (dimension === 'count') return [...new Set(roundStops(1, 64).map(Math.round))]
  const step = Math.max(Math.floor(stops.length / VALUES), 1)
  return stops.filter((_, index) => index % step === 0)
}

function write(xs: number[], { dimension }: Knob): string {
  return xs.map((value) => writeQuantity({ value, dimension })).join(', ')
}

/** The values, rising; none if one of them is no value of the knob. */
export function parseValues(text: string, { dimension }: Pick<Knob, 'dimension'>): number[] | undefined {
  const found = text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(parseQuantity)
  const right = found.every(
    (each) => each?.dimension === dimension && (dimension !== 'count' || Number.isInteger(each.value)),
  )
  if (!right || found.length === 0) return undefined
  return [...new Set(found.map((each) => each?.value ?? 0))].sort((one, other) => one - other)
}

export function Axis({ knobs, knob, choose, xs, setXs }: Props) {
  const [text, setText] = useState('')
  // Another knob, or the same one in another unit, begins anew.
  const kind = `${knob.id} ${knob.dimension}`
  useEffect(() => {
    const first = firstValues(knob)
    setText(write(first, knob))
    setXs(first)
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a knob is made anew whenever the scenario changes
  }, [kind])
  const wrong = text !== '' && xs.length === 0
  return (
    <div class="axis">
      <label>
        <span class="label">Against</span>
        <select
          value={knob.id}
          onChange={({ currentTarget }) => {
            choose(currentTarget.value)
          }}
        >
          {knobs.map((each) => (
            <option key={each.id} value={each.id}>
              {each.label}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="label">Values</span>
        <textarea
          rows={3}
          value={text}
          aria-invalid={wrong}
          aria-describedby="axis-problem"
          onInput={({ currentTarget: { value } }) => {
            setText(value)
            setXs(parseValues(value, knob) ?? [])
          }}
        />
      </label>
      <p id="axis-problem" class="small problem">
        {wrong && `Write values such as ${write(firstValues(knob).slice(0, 3), knob)}.`}
      </p>
    </div>
  )
}
