/** The tables of a run: the first rows of one, and each as a file. */

import { useMemo, useState } from 'preact/hooks'
import { readFile, readTable, type RunDetail } from '../../data/served'
import type { Column, Table } from '../../engine/types'
import { download } from '../../ui/download'
import { digits, withUnit } from '../../ui/numbers'
import { useLoaded } from '../../ui/store'
import { DataTable, type TableColumn } from '../../ui/table'

/** Rows that are shown; the files have all. */
const SHOWN = 200

const TYPES = { csv: 'text/csv', parquet: 'application/vnd.apache.parquet' }

export function Tables({ run }: { run: RunDetail }) {
  const [name, setName] = useState(run.tables[0] ?? '')
  const [problem, setProblem] = useState('')
  if (run.tables.length === 0) {
    return <p class="soft">No tables were kept of this run: its totals are below, and Play runs it again.</p>
  }
  const save = (format: 'csv' | 'parquet') => {
    setProblem('')
    readFile(run.run_id, `tables/${name}/${format}`).then(
      (content) => {
        download(`${run.run_id}-${name}.${format}`, content, TYPES[format])
      },
      (error: unknown) => {
        setProblem((error as Error).message)
      },
    )
  }
  return (
    <>
      <h2>Tables</h2>
      <div class="row">
        <label class="row">
          Table
          <select
            value={name}
            onChange={({ currentTarget }) => {
              setName(currentTarget.value)
            }}
          >
            {run.tables.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        {(['csv', 'parquet'] as const).map((format) => (
          <button
            key={format}
            type="button"
            onClick={() => {
              save(format)
            }}
          >
            {format === 'csv' ? 'CSV' : 'Parquet'}
          </button>
        ))}
        <span role="alert">{problem}</span>
      </div>
      <Rows key={name} run={run.run_id} name={name} />
    </>
  )
}

function Rows({ run, name }: { run: string; name: string }) {
  const loaded = useLoaded(() => readTable(run, name, SHOWN), [run, name])
  if (loaded.state === 'waiting') return <p class="soft">Reading the table…</p>
  if (loaded.state === 'failed') {
    return (
      <p class="note bad" role="alert">
        {loaded.error.message}
      </p>
    )
  }
  return <Shown table={loaded.value} of={loaded.value.of} />
}

function Shown({ table, of }: { table: Table; of: number }) {
  const columns = useMemo(() => table.columns.map(shownAs), [table])
  const rows = useMemo(() => Array.from({ length: table.rows }, (_, index) => index), [table])
  return <DataTable caption={captionOf(table, of)} columns={columns} rows={rows} />
}

/** What the table is, and how much of it is shown. A description may be a sentence. */
export function captionOf({ name, description, rows }: Table, of: number): string {
  const shown = rows < of ? `the first ${digits(rows)} of ${digits(of)} rows` : `${digits(of)} rows`
  return `${(description || name).replace(/\.$/, '')}: ${shown}`
}

/** A column of the table; its rows are counted. */
function shownAs(column: Column): TableColumn<number> {
  const { name, unit, description, values } = column
  if (column.kind === 'number') {
    const value = (row: number) => values[row] ?? Number.NaN
    return { title: name, hint: description, numeric: true, value, cell: (row) => withUnit(value(row), unit) }
  }
  const words = column.kind === 'bool' ? ['no', 'yes'] : column.names
  return { title: name, hint: description, value: (row) => words[values[row] ?? Number.NaN] ?? null }
}
