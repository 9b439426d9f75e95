/** Scenarios to begin with. Three are in the page, so that it has something to show at once; a file has all others. */

import { useLoaded } from '../ui/store'

export interface Preset {
  id: string
  title: string
  group: string
  text: string
  toml: string
  /** Schemes to show side by side. */
  compare: string[]
}

const COLLAPSE = `# A client asks N servers for 64 KB each, and asks again when all answers have come.
[network]
topology = "star"
rate = "1Gbps"
delay = "25us"
buffer = "100pkt"

[transport]
initial-window = "2mss"
rto-min = "200ms"

[[traffic]]
name = "servers"
kind = "incast"
senders = 24
bytes-each = "64KB"
rounds = 10
jitter = "20us"
connections = "persistent"
request = "100B"

[run]
duration = "60s"
seed = 1
`

export const presets: [Preset, ...Preset[]] = [
  {
    id: 'collapse',
    title: 'Incast collapse',
    group: 'Start here',
    text: 'Many servers answer at once, the port in front of the client overflows, and the timer costs 200 ms.',
    toml: COLLAPSE,
    compare: ['newreno', 'dctcp'],
  },
  {
    id: 'dctcp',
    title: 'DCTCP at its limit',
    group: 'Start here',
    text: 'Two segments of every server fill the buffer: marking early no longer helps.',
    toml: COLLAPSE.replace('senders = 24', 'senders = 60'),
    compare: ['dctcp', 'newreno'],
  },
  {
    id: 'pfdct',
    title: 'PFDCT beside DCTCP',
    group: 'Start here',
    text: 'Short answers beside two long flows: PFDCT lets packets of short flows go first.',
    toml:
      COLLAPSE.replace('senders = 24', 'senders = 40').replace('bytes-each = "64KB"', 'bytes-each = "32KB"') +
      `
[[traffic]]
name = "background"
kind = "background"
flows = 2
`,
    compare: ['dctcp', 'pfdct'],
  },
]

let others: Promise<Preset[]> | undefined

async function fetchOthers(): Promise<Preset[]> {
  const response = await fetch(new URL('data/presets.json', document.baseURI))
  // A server that answers every path with the page itself has no such file either.
  if (!response.ok || !response.headers.get('content-type')?.includes('json')) return []
  return (await response.json()) as Preset[]
}

/** All presets: those in the page, and the file's once it is loaded. */
export function usePresets(): Preset[] {
  const loaded = useLoaded(() => (others ??= fetchOthers()), [])
  return loaded.state === 'ready' ? [...presets, ...loaded.value] : presets
}
