/** The cross-paper ranking as a map: a row per system, a column per regime, and the numbers of the cell in focus. */

import { useRef } from 'preact/hooks'
import {
  nameOf,
  placeOf,
  ranking,
  step,
  systemsOf,
  valuesOf,
  type Place,
  type RankedExperiment,
  type Ranking,
  type Regime,
} from '../../data/ranking'
import { styleOf } from '../../ui/palette'
import { useLoaded } from '../../ui/store'
import { Swatch } from '../../ui/swatch'
import { DataTable, type TableColumn } from '../../ui/table'
import { useTheme } from '../../ui/theme'
import type { Change } from '../../scenario/params'

interface Props {
  params: URLSearchParams
  change: Change
}

export function Heat(props: Props) {
  const loaded = useLoaded(ranking, [])
  if (loaded.state === 'waiting') return <p class="soft">Loading…</p>
  if (loaded.state === 'failed') {
    return (
      <p class="note bad" role="alert">
        {loaded.error.message}
      </p>
    )
  }
  return <Ranked {...props} kept={loaded.value} />
}

/** What is chosen for the whole map, beside the experiment. */
const AXIS = 'background'

function Ranked({ params, change, kept }: Props & { kept: Ranking }) {
  const index = Math.min(Number(params.get('rate') ?? 0) || 0, kept.experiments.length - 1)
  const chosen = kept.experiments[index]
  if (!chosen) return null
  const backgrounds = valuesOf(chosen.regimes, AXIS)
  const background = backgrounds.find((each) => each === params.get(AXIS)) ?? backgrounds[0] ?? ''
  const regimes = chosen.regimes.filter((regime) => regime.where[AXIS] === background)
  const systems = systemsOf(regimes)
  const at = (name: string, most: number) => Math.min(Math.max(Number(params.get(name) ?? 0) || 0, 0), most)
  const column = at('column', regimes.length - 1)
  const row = at('row', systems.length - 1)
  const move = (nextRow: number, nextColumn: number) => {
    change({ row: String(nextRow), column: String(nextColumn) })
  }
  return (
    <>
      <p class="soft">
        Query goodput of each system, in per cent of the best in the same column. Arrow keys walk over the map.
      </p>
      <div class="papers-filters">
        <label>
          <span class="label">Network</span>
          <select
            value={index}
            onChange={({ currentTarget }) => {
              change({ rate: currentTarget.value })
            }}
          >
            {kept.experiments.map((each, at) => (
              <option key={each.title} value={at}>
                {each.title}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span class="label">Background flows</span>
          <select
            value={background}
            onChange={({ currentTarget }) => {
              change({ [AXIS]: currentTarget.value })
            }}
          >
            {backgrounds.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      <Grid regimes={regimes} systems={systems} row={row} column={column} move={move} title={chosen.title} />
      <Cell kept={kept} chosen={chosen} regime={regimes[column]} system={systems[row] ?? ''} />
    </>
  )
}

interface GridProps {
  title: string
  regimes: Regime[]
  systems: string[]
  row: number
  column: number
  move: (row: number, column: number) => void
}

function Grid({ title, regimes, systems, row, column, move }: GridProps) {
  const theme = useTheme()
  const grid = useRef<HTMLTableElement>(null)
  const walk = (event: KeyboardEvent) => {
    const next = step(event.key, row, column, systems.length, regimes.length)
    if (!next) return
    event.preventDefault()
    move(...next)
    grid.current?.querySelector<HTMLElement>(`[data-at="${next.join()}"]`)?.focus()
  }
  const axes = Object.keys(regimes[0]?.where ?? {}).filter((axis) => axis !== AXIS)
  return (
    <div class="scroll">
      <table class="papers-heat" role="grid" aria-label={title} ref={grid} onKeyDown={walk}>
        <thead>
          {axes.map((axis) => (
            <tr key={axis}>
              <th scope="row">{axis}</th>
              {regimes.map((regime, at) => (
                <th key={at} scope="col">
                  {regime.where[axis]}
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {systems.map((system, at) => (
            <tr key={system}>
              <th scope="row">
                <Swatch style={styleOf(system, theme)} /> {system}
              </th>
              {regimes.map((regime, place) => (
                <HeatCell
                  key={place}
                  place={placeOf(regime, system)}
                  here={at === row && place === column}
                  at={`${at},${place}`}
                  choose={() => {
                    move(at, place)
                  }}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface HeatCellProps {
  place: Place | undefined
  here: boolean
  at: string
  choose: () => void
}

function HeatCell({ place, here, at, choose }: HeatCellProps) {
  const share = place?.[2] ?? 0
  const best = place?.[1] === 1
  return (
    <td
      role="gridcell"
      tabIndex={here ? 0 : -1}
      aria-selected={here}
      data-at={at}
      style={{ '--share': `${share}%` }}
      onClick={choose}
    >
      {place?.[2] ?? '–'}
      {best && <span class="visually-hidden">, none is better</span>}
      {best && <span aria-hidden="true"> ★</span>}
    </td>
  )
}

interface CellProps {
  kept: Ranking
  chosen: RankedExperiment
  regime: Regime | undefined
  system: string
}

function Cell({ kept, chosen, regime, system }: CellProps) {
  if (!regime) return null
  const place = placeOf(regime, system)
  const rank = place?.[1] ? `rank ${place[1]}` : 'rank undecided'
  const shown = kept.columns.map((name, index) => `${name} ${place?.[index + 3] ?? ''}`)
  return (
    <>
      <p class="card" role="status">
        <strong>{system}</strong>
        {` (${nameOf(regime, [])}): ${rank}, ${place?.[2] ?? '–'} % of the best; ${shown.join('; ')}`}
      </p>
      <DataTable caption={`All systems: ${nameOf(regime, [])}`} columns={columnsOf(kept)} rows={regime.places} />
      <p class="soft small">
        A star: no other is significantly better. ± is half of the 95 % interval over the seeds. †: only of the queries
        that were complete. <code>{chosen.command}</code> makes these numbers again.
      </p>
    </>
  )
}

function columnsOf(kept: Ranking): TableColumn<Place>[] {
  const number = (text: string) => parseFloat(text.replaceAll(',', ''))
  return [
    { title: 'System', value: (place) => place[0] },
    { title: 'Rank', value: (place) => place[1] || null, numeric: true },
    { title: 'Share (%)', value: (place) => place[2], numeric: true },
    ...kept.columns.map((title, index): TableColumn<Place> => {
      const text = (place: Place) => String(place[index + 3] ?? '')
      const value = (place: Place) => (Number.isNaN(number(text(place))) ? null : number(text(place)))
      return { title, value, cell: text, numeric: true }
    }),
  ]
}
