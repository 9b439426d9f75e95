/** A figure of a paper: our curves with their intervals, and the numbers that the paper printed. */

import { useMemo } from 'preact/hooks'
import type { Figure, FigureLine } from '../../data/papers'
import { Chart, type Limit, type Line } from '../../ui/chart'
import { digits } from '../../ui/numbers'
import { styles, type Style } from '../../ui/palette'
import { Swatch } from '../../ui/swatch'
import { useTheme, type Theme } from '../../ui/theme'

const PAPER: Record<Theme, string> = { light: '#1b1f24', dark: '#e7eaed' }

export function FigureView({ figure }: { figure: Figure }) {
  const theme = useTheme()
  const drawn = useMemo(
    () =>
      styles(
        figure.lines.map((line) => line.label),
        theme,
      ),
    [figure, theme],
  )
  const named = figure.kind === 'bars' || figure.kind === 'points'
  return (
    <>
      {named ? <Bars figure={figure} drawn={drawn} /> : <Curves figure={figure} drawn={drawn} theme={theme} />}
      {figure.y.includes(': ') && <p class="soft small">{figure.y}</p>}
      {figure.note && <p class="soft small">{figure.note}</p>}
    </>
  )
}

interface Drawn {
  figure: Figure
  drawn: Style[]
}

function Curves({ figure, drawn, theme }: Drawn & { theme: Theme }) {
  const [lines, limits] = useMemo(
    () => [
      [...figure.lines.map((line, index) => ours(figure, line, drawn[index])), ...published(figure, theme)],
      limitsOf(figure),
    ],
    [figure, drawn, theme],
  )
  return (
    <Chart
      title={figure.title}
      x={{ label: nameOf(figure.x), unit: '' }}
      y={{ label: nameOf(figure.y), unit: '' }}
      lines={lines}
      limits={limits}
      height={300}
    />
  )
}

/** A label has its definition after a colon, for which an axis has no room. */
function nameOf(label: string): string {
  return label.split(': ')[0] ?? label
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

function intervalOf(line: FigureLine, at: number): string {
  const low = line.low?.[at]
  const high = line.high?.[at]
  return low === undefined || high === undefined ? '' : ` (${digits(low)} to ${digits(high)})`
}
