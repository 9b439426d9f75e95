/** Scenarios to begin with. */

import { useState } from 'preact/hooks'
import { current, replace } from '../scenario/current'
import { usePresets, type Preset } from '../scenario/presets'
import { useStore } from './store'

export function Presets() {
  const presets = usePresets()
  const { toml } = useStore(current)
  const [picked, setPicked] = useState('')
  const same = presets.filter((preset) => preset.toml === toml)
  // Several figures can come from one scenario.
  const chosen = same.find((preset) => preset.id === picked) ?? same[0]
  const groups = [...new Set(presets.map((preset) => preset.group))]
  const choose = (preset: Preset | undefined) => {
    if (!preset) return
    setPicked(preset.id)
    replace({ toml: preset.toml, schemes: preset.compare })
  }
  return (
    <div class="presets">
      <label>
        <span class="label">Scenario</span>
        <select
          value={chosen?.id ?? ''}
          onChange={({ currentTarget }) => {
            choose(presets.find((preset) => preset.id === currentTarget.value))
          }}
        >
          {!chosen && <option value="">Your own</option>}
          {groups.map((group) => (
            <optgroup key={group} label={group}>
              {presets
                .filter((preset) => preset.group === group)
                .map((preset) => (
                  <option key={preset.id} value={preset.id}>
                    {preset.title}
                  </option>
                ))}
            </optgroup>
          ))}
        </select>
      </label>
      <p class="soft small preset-text">
        {chosen?.text ?? 'Changed by you: the address of this page holds all of it.'}
      </p>
    </div>
  )
}
