/** A figure of a paper: our curves with their intervals, and the numbers that the paper printed. */

import { useMemo, useState } from 'preact/hooks'
import { intervalOf, rowsOf } from '../../data/figure'
import type { Figure, FigureLine } from '../../data/papers'
import { Chart, type Axis, type Limit, type Line } from '../../ui/chart'
import { Exports } from '../../ui/exports'
import { digits } from '../../ui/numbers'
import { styles, type Style } from '../../ui/palette'
import { Swatch } from '../../ui/swatch'
import { useTheme, type Theme } from '../../ui/theme'

const PAPER: Record<Theme, string> = { light: '#1b1f24', dark: '#e7eaed' }

/** The data of a figure in the document; more are in its file. */
const MOST_ROWS = 200

export function FigureView({ figure }: { figure: Figure }) {
  return (
    <>
      {figure.lines.length > 0 && <Plotted figure={figure} />}
      {figure.lines.length > 0 && figure.y.includes(': ') && <p class="soft small">{figure.y}</p>}
      {figure.note && <p class="soft small">{figure.note}</p>}
      <Data figure={figure} />
      <Files figure={figure} />
    </>
  )
}

/** Where a report has the file. */
function linkTo(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

function Files({ figure: { data, lines, name, title } }: { figure: Figure }) {
  if (data === undefined) return null
  if (!data) {
    return (
      <p class="note bad small">{`The data of ${title} are missing from the results: run the experiment again.`}</p>
    )
  }
  return (
    <p class="small">
      {lines.length === 0 && (
        <>
          A report shows the data of such a figure; its picture is <code>{name}.svg</code> in the experiment's
          results.{' '}
        </>
      )}
      <a href={linkTo(data)}>All data as CSV</a>, in SI base units
    </p>
  )
}

/** Numbers of curves are behind a word; those of bars are beside them. */
function Data({ figure }: { figure: Figure }) {
  const [open, setOpen] = useState(false)
  if (isNamed(figure) || !(figure.lines.length > 0 || figure.rows?.header.length)) return null
  return (
    <details
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open)
      }}
    >
      <summary>Data of this figure</summary>
      {open && <Rows figure={figure} />}
    </details>
  )
}

function Rows({ figure }: { figure: Figure }) {
  const { header, rows } = figure.rows ? { header: figure.rows.header, rows: figure.rows.first } : rowsOf(figure)
  const of = figure.rows?.of ?? rows.length
  const shown = rows.slice(0, MOST_ROWS)
  return (
    <div class="scroll papers-data" role="region" aria-label={`Data of ${figure.title}`} tabIndex={0}>
      <table>
        <caption>{figure.y || figure.title}</caption>
        <thead>
          <tr>
            {header.map((name, index) => (
              <th key={index} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, index) => (
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={at} class="number">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {of > shown.length && <p class="soft">{`The first ${shown.length} of ${of} rows.`}</p>}
    </div>
  )
}

/** Whether its values stand beside each other, by names. */
function isNamed({ kind }: Figure): boolean {
  return kind === 'bars' || kind === 'points'
}

function Plotted({ figure }: { figure: Figure }) {
  const theme = useTheme()
  const drawn = useMemo(() => stylesOf(figure, theme), [figure, theme])
  return isNamed(figure) ? (
    <Bars figure={figure} drawn={drawn} />
  ) : (
    <Curves figure={figure} drawn={drawn} theme={theme} />
  )
}

function stylesOf({ lines }: Figure, theme: Theme): Style[] {
  const labels = lines.map((line) => line.label)
  return styles(labels, theme)
}

interface Drawn {
  figure: Figure
  drawn: Style[]
}

function Curves({ figure, drawn, theme }: Drawn & { theme: Theme }) {
  const [lines, limits] = useMemo(() => [linesOf(figure, drawn, theme), limitsOf(figure)], [figure, drawn, theme])
  const { title, name, note } = figure
  const [x, y] = [axisOf(figure.x), axisOf(figure.y)]
  const paper = () => linesOf(figure, stylesOf(figure, 'light'), 'light')
  return (
    <>
      <Chart title={title} x={x} y={y} lines={lines} limits={limits} height={300} />
      <Exports title={title} name={name} figure={() => ({ title, note, x, y, lines: paper(), limits })} />
    </>
  )
}

/** Our lines, and the points of the paper. */
function linesOf(figure: Figure, drawn: Style[], theme: Theme): Line[] {
  return [...figure.lines.map((line, index) => ours(figure, line, drawn[index])), ...published(figure, theme)]
}

/** The unit is in the label; its definition is after a colon, for which an axis has no room. */
function axisOf(label: string): Axis {
  return { label: label.split(': ')[0] ?? label, unit: '' }
}

function ours({ kind }: Figure, line: FigureLine, style: Style = { colour: '#808080', marker: 'o', dash: [] }): Line {
  return {
    label: line.label,
    style,
    x: line.x.map(Number),
    y: line.y,
    step: kind === 'cdf',
    points: kind === 'line' && line.x.length < 60,
    ...(line.low && line.high ? { band: { low: line.low, high: line.high } } : {}),
  }
}

/** Printed points, in the colour of text and with a star, as the paper's. */
function published(figure: Figure, theme: Theme): Line[] {
  return figure.published
    .filter(({ x, y }) => x.length > 0 && y.length > 0)
    .map(({ label, x, y }) => {
      const order = x.map((_, index) => index).sort((one, other) => (x[one] ?? 0) - (x[other] ?? 0))
      return {
        label: `paper: ${label}`,
        style: { colour: PAPER[theme], marker: '*', dash: [2, 3] },
        x: order.map((index) => x[index] ?? 0),
        y: order.map((index) => y[index] ?? 0),
        points: true,
      }
    })
}

function limitsOf(figure: Figure): Limit[] {
  return figure.published.flatMap(({ label, x, y }) => {
    if (x.length > 0 && y.length > 0) return []
    return [
      ...x.map((at) => ({ label: `paper: ${label}`, x: at })),
      ...y.map((at) => ({ label: `paper: ${label}`, y: at })),
    ]
  })
}

/** Values beside each other, by names. */
function Bars({ figure, drawn }: Drawn) {
  const names = [...new Set(figure.lines.flatMap((line) => line.x.map(String)))]
  const most = Math.max(...figure.lines.flatMap((line) => [...line.y, ...(line.high ?? [])]), 1e-12)
  return (
    <div class="scroll" role="region" aria-label={figure.title} tabIndex={0}>
      <table class="papers-bars">
        <caption>{`${figure.title}: ${figure.y}`}</caption>
        <thead>
          <tr>
            <th scope="col">{figure.x}</th>
            <th scope="col">Line</th>
            <th scope="col">{figure.y}</th>
          </tr>
        </thead>
        <tbody>
          {names.map((name) =>
            figure.lines.map((line, index) => {
              const at = line.x.map(String).indexOf(name)
              const value = line.y[at]
              if (value === undefined) return null
              const style = drawn[index]
              return (
                <tr key={`${name} ${line.label}`}>
                  <th scope="row">{name}</th>
                  <td>
                    {style && <Swatch style={style} />} {line.label}
                  </td>
                  <td>
                    <span
                      class="papers-length"
                      aria-hidden="true"
                      style={{ width: `${(130 * Math.max(value, 0)) / most}px`, background: style?.colour ?? '' }}
                    />
                    {` ${digits(value)}${intervalOf(line, at)}`}
                  </td>
                </tr>
              )
            }),
          )}
        </tbody>
      </table>
      {figure.published.map(({ label, y }) => (
        <p key={label} class="small">{`The paper: ${label}${y.length > 0 ? `, ${y.map(digits).join(', ')}` : ''}`}</p>
      ))}
    </div>
  )
}
