/** What the runs gave, in numbers: how long the client waits, and why. */

import { digits, withUnit } from '../../ui/numbers'
import { styleOf } from '../../ui/palette'
import { Swatch } from '../../ui/swatch'
import { useTheme } from '../../ui/theme'
import type { Run } from './runs'
import type { Contender, Step } from './step'
import { when } from './words'

interface Props {
  step: Step
  runs: Run[]
  contenders: Contender[]
}

export function Results({ step, runs, contenders }: Props) {
  const theme = useTheme()
  const long = runs.some(({ facts }) => facts.longBps !== undefined)
  const times = runs.map(({ facts }) => facts.seconds ?? facts.watched)
  const longest = Math.max(...times, 1e-9)
  return (
    <div class="scroll learn-results">
      <table>
        <caption>{`Time until the last ${step.waitsFor.one} is there`}</caption>
        <thead>
          <tr>
            <th scope="col">With</th>
            <th scope="col">Time</th>
            <th scope="col" class="number">
              Lost (packets)
            </th>
            <th scope="col" class="number">
              Wait for a timer
            </th>
            {long && (
              <th scope="col" class="number">
                Long flows
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {contenders.map(({ label, scheme }, index) => {
            const facts = runs[index]?.facts
            return (
              <tr key={label}>
                <th scope="row">
                  <Swatch style={styleOf(scheme, theme)} /> {label}
                </th>
                <td class="learn-time">
                  {facts ? when(facts) : '–'}
                  <span class="learn-bar" aria-hidden="true">
                    <span style={{ width: `${(100 * (times[index] ?? 0)) / longest}%` }} />
                  </span>
                </td>
                <td class="number">{facts ? digits(facts.lost) : '–'}</td>
                <td class="number">{facts ? `${facts.waited} of ${facts.answers}` : '–'}</td>
                {long && <td class="number">{withUnit(facts?.longBps, 'bit/s')}</td>}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
