/** The colour and the marker of a line, beside its name. */

import { cornersOf } from './markers'
import type { Style } from './palette'

export function Swatch({ style }: { style: Style }) {
  const corners = cornersOf(style.marker)
  return (
    <svg class="swatch" viewBox="-10 -6 20 12" width="20" height="12" aria-hidden="true">
      <line x1="-10" x2="10" stroke={style.colour} stroke-width="2" stroke-dasharray={style.dash.join(' ')} />
      {corners ? (
        <polygon points={corners.map(([x, y]) => `${4.5 * x},${4.5 * y}`).join(' ')} fill={style.colour} />
      ) : (
        <circle r="4" fill={style.colour} />
      )}
    </svg>
  )
}
