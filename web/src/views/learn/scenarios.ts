/** The scenarios of the course, as files that one can take away. */

import { numberOf, valueOf, type Values } from './step'

/** The traffic group of long flows. All others are what the client waits for. */
export const LONG = 'long'

export const ANSWER_BYTES = 32_000
/** Room in front of the client. */
export const BUFFER_PACKETS = 100
export const LINK_BPS = 1e9

interface Parts {
  about: string
  transport: string[]
  /** Sections of schemes. */
  schemes?: string[]
  /** Further lines of the query. */
  query?: string[]
  /** Further traffic. */
  more?: string[]
  duration: string
}

/** N servers behind one switch answer one client at once. */
function query(senders: number, { about, transport, schemes = [], query = [], more = [], duration }: Parts): string {
  return [
    `# ${about}`,
    '[network]',
    'topology = "star"',
    'rate = "1Gbps"',
    'delay = "25us"',
    `buffer = "${BUFFER_PACKETS}pkt"`,
    '',
    '[transport]',
    ...transport,
    '',
    ...schemes,
    '[[traffic]]',
    'name = "answers"',
    'kind = "incast"',
    `senders = ${senders}`,
    `bytes-each = "${ANSWER_BYTES}B"`,
    'jitter = "20us"',
    ...query,
    '',
    ...more,
    '[run]',
    `duration = "${duration}"`,
    'seed = 1',
    '',
  ].join('\n')
}

/** A scheme without a section of its own begins with two segments, as TCP did for long. */
const WINDOW = 'initial-window = "2mss"'

export function plain(values: Values, timer = '200ms'): string {
  const senders = numberOf(values, 'senders')
  return query(senders, {
    about: `A client asks ${senders} servers at once, and needs all answers.`,
    transport: [`rto-min = "${timer}"`, WINDOW],
    duration: '20s',
  })
}

export function marking(values: Values): string {
  const senders = numberOf(values, 'senders')
  return query(senders, {
    about: `${senders} servers answer at once; the switch marks packets before it is full.`,
    transport: ['rto-min = "200ms"', WINDOW],
    schemes: ['[scheme.dctcp]', `mark-threshold = "${valueOf(values, 'threshold')}pkt"`, ''],
    duration: '20s',
  })
}

/** Windows may fall to one segment, as the paper has it; its simulator acknowledges every second packet. */
export function twoThresholds(values: Values): string {
  const senders = numberOf(values, 'senders')
  return query(senders, {
    about: `${senders} servers answer at once; windows may fall to one segment.`,
    transport: ['rto-min = "10ms"', WINDOW, `ack-every = ${valueOf(values, 'acks')}`, 'ack-delay = "200ms"'],
    schemes: ['[scheme.dctcp]', 'min-window = "1mss"', ''],
    duration: '20s',
  })
}

export function besideLongFlows(values: Values): string {
  const senders = numberOf(values, 'senders')
  return query(senders, {
    about: `${senders} short answers come while two long flows fill the queue.`,
    transport: ['rto-min = "10ms"', WINDOW],
    query: ['start = "20ms"'],
    more: ['[[traffic]]', `name = "${LONG}"`, 'kind = "background"', 'flows = 2', ''],
    duration: '100ms',
  })
}

export function scheduled(values: Values): string {
  const senders = numberOf(values, 'senders')
  return query(senders, {
    about: `${senders} servers answer at once; with RCC the client lets them send in turn.`,
    transport: ['rto-min = "10ms"', WINDOW],
    schemes: ['[scheme.rcc]', `queue-max = ${valueOf(values, 'places')}`, ''],
    duration: '20s',
  })
}

/** When the controller hears of congestion: packets in the queue. */
export const CONTROLLER_LEVELS = [30, 60, 85]

export function controlled(values: Values): string {
  const senders = numberOf(values, 'senders')
  return `# ${senders} servers answer at once while a long flow crosses the same cable; a controller watches the switches.
# In the paper a flow counts as long after a second. Here it takes 20 ms, so that the run is short.
[network]
topology = "two-switch"
rate = "1Gbps"
delay = "33us"
buffer = "${BUFFER_PACKETS}pkt"

[transport]
rto-min = "30ms"
ack-every = 1
initial-window = "1mss"
receive-buffer = "87380B"

[scheme.sdtcp]
background-age = "20ms"
poll = "5ms"

[[traffic]]
name = "${LONG}"
kind = "background"
receiver = 1

[[traffic]]
name = "answers"
kind = "incast"
senders = ${senders}
bytes-each = "${ANSWER_BYTES}B"
start = "50ms"
jitter = "100us"

[run]
duration = "170ms"
seed = 1
`
}

/** What a flow is, where flows take different paths. */
export const FILE_BYTES = 500_000

const FAULT = `[[fault]]
kind = "link-down"
link = "leaf-0->spine-2"
direction = "both"
at = "2ms"

`

export function betweenRacks(values: Values): string {
  const flows = (name: string, from: number, to: number) => `[[traffic]]
name = "${name}"
kind = "background"
from = "rack-${from}"
to = "rack-${to}"
flows = 4
bytes-each = "${FILE_BYTES}B"

`
  return `# Two racks send each other eight files; four paths lead from rack to rack.
[network]
topology = "clos"
leaves = 4
spines = 4
hosts-per-leaf = 4
rate = "1Gbps"
uplink-rate = "1Gbps"
delay = "10us"

[transport]
rto-min = "10ms"
ack-every = 1

[scheme.rcce]
st-enable = "on"
st-when = "always"

${flows('there', 0, 1)}${flows('back', 1, 0)}${valueOf(values, 'cable') === 'fails' ? FAULT : ''}[run]
duration = "40ms"
seed = ${valueOf(values, 'draw')}
`
}
