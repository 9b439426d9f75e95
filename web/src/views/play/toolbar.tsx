/** The seed, and cancelling; what one takes away is below the results. */

import { useMemo, useState } from 'preact/hooks'
import { writeAddress } from '../../scenario/current'
import { read, setValue, valueAt } from '../../scenario/toml'
import { useStore } from '../../ui/store'
import { runs } from './session'

interface Props {
  toml: string
  change: (toml: string) => void
}

export function Toolbar({ toml, change }: Props) {
  const document = useMemo(() => read(toml), [toml])
  const seed = Number(valueAt(document, ['run', 'seed']) ?? 1)
  const setSeed = (next: number) => {
    if (Number.isInteger(next) && next >= 0) change(setValue(toml, ['run', 'seed'], String(next)))
  }
  return (
    <div class="row toolbar">
      <label class="row seed">
        Seed
        <input
          type="number"
          min={0}
          value={seed}
          disabled={document.broken}
          onInput={({ currentTarget }) => {
            if (currentTarget.value !== '') setSeed(Number(currentTarget.value))
          }}
        />
      </label>
      <CopyLink />
      <Progress />
    </div>
  )
}

function CopyLink() {
  const [said, setSaid] = useState('Copy link')
  const copy = async () => {
    await writeAddress('play')
    try {
      await navigator.clipboard.writeText(location.href)
      setSaid('Link copied')
    } catch {
      // Without permission the address bar has it.
      setSaid('The address bar has the link')
    }
    setTimeout(() => {
      setSaid('Copy link')
    }, 2000)
  }
  return (
    <button type="button" class="copy-link" onClick={() => void copy()} aria-live="polite">
      {said}
    </button>
  )
}

/** Most runs end long before the time that they are given: until then nobody knows their share. */
const SHOWN_SHARE = 0.05

function Progress() {
  const { busy, share } = useStore(runs.state)
  return (
    <span class={busy ? 'row running' : 'row running idle'} aria-hidden={!busy}>
      <progress max={1} {...(share > SHOWN_SHARE ? { value: share } : {})} aria-label="Share of the run that is done" />
      <button
        type="button"
        disabled={!busy}
        onClick={() => {
          runs.cancel()
        }}
      >
        Cancel
      </button>
    </span>
  )
}
