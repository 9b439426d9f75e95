/** What shapes and colours mean. */

import { Swatch } from '../../ui/swatch'
import { useTheme } from '../../ui/theme'
import { CLASSES, classStyles } from './sprites'
import type { Watched } from './stage'

export function Legend({ byFlow, watched }: { byFlow: boolean; watched: Watched }) {
  const theme = useTheme()
  const styles = classStyles(theme)
  const bottleneck = watched.ports.find((port) => port.bottleneck)
  const unit = bottleneck?.inPackets ? 'packets' : 'bytes'
  return (
    <ul class="legend small watch-legend">
      {CLASSES.map((name, index) => {
        const style = styles[index]
        return style ? (
          <li key={name}>
            <Swatch style={byFlow ? { ...style, colour: 'currentColor' } : style} /> {name}
          </li>
        ) : null
      })}
      <li>
        <span class="symbol bad">✕</span> Drop
      </li>
      <li>
        <span class="symbol part">○</span> Mark
      </li>
      <li>
        <span class="symbol bad">◷</span> Timeout
      </li>
      {bottleneck && !bottleneck.unlimited && (
        <li class="soft">{`frame: buffer of ${Math.round(bottleneck.capacity).toLocaleString('en')} ${unit}`}</li>
      )}
      {watched.thresholds.map((each) => (
        <li key={each.label} class="soft">{`line: ${each.label}`}</li>
      ))}
    </ul>
  )
}
