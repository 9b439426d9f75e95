/** Totals of all schemes: a row per total, a column per scheme. */

import type { Batch } from '../../engine/simulate'
import type { Registry, Total } from '../../engine/types'
import { withUnit } from '../../ui/numbers'
import { styleOf } from '../../ui/palette'
import { Swatch } from '../../ui/swatch'
import { useTheme } from '../../ui/theme'

/** What one looks at first; the registry has their names, units and meanings. */
const MAIN = [
  'goodput_bps',
  'query_mean_s',
  'fct_p99_s',
  'timeouts',
  'drops',
  'marks',
  'queue_mean_packets',
  'queue_max_packets',
]

interface Props {
  registry: Registry | undefined
  batch: Batch | undefined
  schemes: string[]
  all: boolean
}

export function Totals({ registry, batch, schemes, all }: Props) {
  const theme = useTheme()
  const shown = (registry?.totals ?? []).filter((total) => total.unit !== '' && (all || MAIN.includes(total.name)))
  const columns = batch?.runs.map((run) => run.scheme) ?? schemes
  return (
    <div class="scroll totals" role="region" aria-label="Totals" tabIndex={0}>
      <table>
        <caption class="visually-hidden">Totals by scheme</caption>
        <thead>
          <tr>
            <th scope="col">Total</th>
            {columns.map((scheme) => (
              <th key={scheme} scope="col" class="number">
                <Swatch style={styleOf(scheme, theme)} /> {scheme}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((total) => (
            <Row
              key={total.name}
              total={total}
              values={columns.map((_, index) => numberOf(batch, index, total.name))}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function numberOf(batch: Batch | undefined, index: number, name: string): number | null {
  const value = batch?.runs[index]?.outcome.summary[name]
  return typeof value === 'number' ? value : null
}

function Row({ total, values }: { total: Total; values: (number | null)[] }) {
  const best = bestOf(total, values)
  return (
    <tr>
      <th scope="row" title={total.doc}>
        {total.label}
      </th>
      {values.map((value, index) => (
        <td key={index} class={value !== null && value === best ? 'number best' : 'number'}>
          {withUnit(value, total.shown === '%' ? '%' : total.unit)}
        </td>
      ))}
    </tr>
  )
}

/** The best value, if there is something to choose from and one is better. */
function bestOf({ better }: Total, values: (number | null)[]): number | undefined {
  const numbers = values.filter((value) => value !== null)
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)]
  if (better === 'neither' || numbers.length < 2 || low === high) return undefined
  return better === 'more' ? high : low
}
