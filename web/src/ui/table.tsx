/** A table whose rows can be sorted by any column. */

import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'

export interface TableColumn<Row> {
  title: string
  /** What the column means, shown as a hint. */
  hint?: string
  /** By this rows are sorted; numbers are aligned at the right. */
  value: (row: Row) => number | string | null
  cell?: (row: Row) => ComponentChildren
  numeric?: boolean
}

interface Order {
  column: number
  descending: boolean
}

interface Props<Row> {
  caption: string
  columns: TableColumn<Row>[]
  rows: Row[]
  /** No more rows than this are in the document; the rest is counted below. */
  limit?: number
}

function compare(one: number | string | null, other: number | string | null): number {
  if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return String(one).localeCompare(String(other))
}

export function DataTable<Row>({ caption, columns, rows, limit = 500 }: Props<Row>) {
  const [order, setOrder] = useState<Order | undefined>()
  const sorted = useMemo(() => {
    const column = order && columns[order.column]
    if (!column) return rows
    const sign = order.descending ? -1 : 1
    return [...rows].sort((one, other) => sign * compare(column.value(one), column.value(other)))
  }, [rows, columns, order])

  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table class="data">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <Heading key={column.title} column={column} index={index} order={order} setOrder={setOrder} />
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, limit).map((row, index) => (
            <tr key={index}>
              {columns.map((column) => (
                <td key={column.title} class={column.numeric ? 'number' : undefined}>
                  {column.cell ? column.cell(row) : column.value(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > limit && <p class="soft">{`and ${rows.length - limit} more rows`}</p>}
    </div>
  )
}

interface HeadingProps<Row> {
  column: TableColumn<Row>
  index: number
  order: Order | undefined
  setOrder: (order: Order) => void
}

function Heading<Row>({ column, index, order, setOrder }: HeadingProps<Row>) {
  const here = order?.column === index
  const sort = here ? (order.descending ? 'descending' : 'ascending') : 'none'
  return (
    <th scope="col" aria-sort={sort} class={column.numeric ? 'number' : undefined} title={column.hint}>
      <button
        type="button"
        class="plain"
        onClick={() => {
          setOrder({ column: index, descending: here && !order.descending })
        }}
      >
        {column.title}
        <span aria-hidden="true">{here ? (order.descending ? ' ▾' : ' ▴') : ''}</span>
      </button>
    </th>
  )
}
