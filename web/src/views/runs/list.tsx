/** The stored runs: search, order and parts are the server's, as a store may have a hundred thousand runs. */

import { useEffect, useState } from 'preact/hooks'
import { listRuns, PAGE, type ColumnInfo, type Row, type Runs, type Wanted } from '../../data/served'
import { digits, withUnit } from '../../ui/numbers'
import { useLoaded } from '../../ui/store'

/** While somebody types, the server is asked only at rest. */
const REST_MS = 200

/** Kept while another view or a run is open. */
let last: Wanted = { search: '', sort: 'finished', descending: true, offset: 0 }

export function List({ folder }: { folder: string }) {
  const [wanted, setWanted] = useState(last)
  const [shown, setShown] = useState<Runs | undefined>()
  const loaded = useLoaded(() => listRuns(wanted), [wanted])
  useEffect(() => {
    if (loaded.state === 'ready') setShown(loaded.value)
  }, [loaded])
  const change = (part: Partial<Wanted>) => {
    last = { ...wanted, offset: 0, ...part }
    setWanted(last)
  }
  return (
    <>
      <h1>Runs</h1>
      <div class="row">
        <Search
          text={wanted.search}
          change={(search) => {
            change({ search })
          }}
        />
        <p class="soft" aria-live="polite">
          {shown ? `${digits(shown.found)} of ${digits(shown.total)} runs in ${folder}` : `Reading ${folder}…`}
        </p>
      </div>
      {loaded.state === 'failed' && (
        <p class="note bad" role="alert">
          {loaded.error.message}
        </p>
      )}
      {shown && <Table shown={shown} wanted={wanted} change={change} />}
      {shown && <Parts shown={shown} change={change} />}
    </>
  )
}

function Search({ text, change }: { text: string; change: (text: string) => void }) {
  const [typed, setTyped] = useState(text)
  useEffect(() => {
    if (typed === text) return
    const timer = setTimeout(() => {
      change(typed)
    }, REST_MS)
    return () => {
      clearTimeout(timer)
    }
  }, [typed, text, change])
  return (
    <label class="row">
      Search
      <input
        type="search"
        value={typed}
        placeholder="dctcp incast"
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value)
        }}
      />
    </label>
  )
}

interface Props {
  shown: Runs
  wanted: Wanted
  change: (part: Partial<Wanted>) => void
}

function Table({ shown, wanted, change }: Props) {
  return (
    <div class="scroll" role="region" aria-label="Stored runs" tabIndex={0}>
      <table class="runs">
        <caption class="visually-hidden">Stored runs</caption>
        <thead>
          <tr>
            {shown.columns.map((column) => (
              <Heading key={column.name} column={column} wanted={wanted} change={change} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.runs.map((row) => (
            <tr key={row.run_id}>
              {shown.columns.map((column) => (
                <Cell key={column.name} column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const isNumber = ({ unit }: ColumnInfo) => unit !== ''

function Heading({ column, wanted, change }: Omit<Props, 'shown'> & { column: ColumnInfo }) {
  const here = wanted.sort === column.name
  const sort = here ? (wanted.descending ? 'descending' : 'ascending') : 'none'
  return (
    <th
      scope="col"
      aria-sort={sort}
      class={isNumber(column) ? 'number' : undefined}
      title={column.definition || undefined}
    >
      <button
        type="button"
        class="plain"
        onClick={() => {
          change({ sort: column.name, descending: here ? !wanted.descending : isNumber(column) })
        }}
      >
        {column.label}
        <span aria-hidden="true">{here ? (wanted.descending ? ' ▾' : ' ▴') : ''}</span>
      </button>
    </th>
  )
}

function Cell({ column, row }: { column: ColumnInfo; row: Row }) {
  const value = row[column.name]
  if (column.name === 'run_id') {
    return (
      <td>
        <a href={`#/runs?run=${row.run_id}`}>
          <code>{row.run_id}</code>
        </a>
        {row.tables.length > 0 && <span class="soft small"> tables</span>}
        {row.capture && <span class="soft small"> packets</span>}
      </td>
    )
  }
  if (isNumber(column)) return <td class="number">{withUnit(typeof value === 'number' ? value : null, column.unit)}</td>
  return <td>{typeof value === 'string' && value !== '' ? value : '–'}</td>
}

function Parts({ shown, change }: Omit<Props, 'wanted'>) {
  const { offset, found, runs } = shown
  if (found <= PAGE) return null
  return (
    <nav class="row" aria-label="Parts of the list">
      <button
        type="button"
        disabled={offset === 0}
        onClick={() => {
          change({ offset: Math.max(offset - PAGE, 0) })
        }}
      >
        Earlier
      </button>
      <span class="soft">{`${digits(offset + 1)} to ${digits(offset + runs.length)} of ${digits(found)}`}</span>
      <button
        type="button"
        disabled={offset + runs.length >= found}
        onClick={() => {
          change({ offset: offset + PAGE })
        }}
      >
        Later
      </button>
    </nav>
  )
}
