/** The schemes that run side by side. */

import type { Registry } from '../engine/types'
import { MOST_SCHEMES } from '../scenario/address'
import { styleOf } from './palette'
import { Swatch } from './swatch'
import { useTheme } from './theme'

interface Props {
  registry: Registry | undefined
  chosen: string[]
  choose: (schemes: string[]) => void
}

export function Schemes({ registry, chosen, choose }: Props) {
  const theme = useTheme()
  const toggle = (key: string) => {
    const next = chosen.includes(key) ? chosen.filter((each) => each !== key) : [...chosen, key]
    if (next.length > 0) choose(next)
  }
  return (
    <fieldset class="schemes">
      <legend class="label">{`Schemes side by side, up to ${MOST_SCHEMES}`}</legend>
      <div class="chips">
        {(registry?.schemes ?? []).map((scheme) => (
          <button
            key={scheme.key}
            type="button"
            class="chip"
            title={scheme.summary}
            aria-pressed={chosen.includes(scheme.key)}
            disabled={chosen.length >= MOST_SCHEMES && !chosen.includes(scheme.key)}
            onClick={() => {
              toggle(scheme.key)
            }}
          >
            <Swatch style={styleOf(scheme.key, theme)} /> {scheme.key}
          </button>
        ))}
      </div>
    </fieldset>
  )
}
