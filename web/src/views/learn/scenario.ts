/** The scenario of the course: one query, whose answers leave N servers at once. */

/** What a visitor can turn. */
export interface Values {
  senders: number
  timer: string
  /** Packets. */
  threshold: number
  /** Segments. */
  window: number
  scheme: string
}

export const SENDERS = [2, 4, 8, 12, 16, 24, 32, 48, 64, 96]
export const TIMERS = ['200us', '1ms', '10ms', '50ms', '200ms']
export const THRESHOLDS = [5, 10, 20, 30, 40, 60, 80]
export const WINDOWS = [1, 2, 4, 10]

export const ANSWER_BYTES = 32_000
export const BUFFER_PACKETS = 100
export const LINK_BPS = 1e9

/** Long flows have found their rate by then. */
export const QUERY_AT_S = 0.1

/** With two long flows to the same client, the query comes when these have found their rate. */
export function scenario({ senders, timer, threshold, window }: Values, background: boolean): string {
  return `# A client asks ${senders} servers at once; each answers with 32 KB.
[network]
topology = "star"
rate = "1Gbps"
delay = "25us"
buffer = "${BUFFER_PACKETS}pkt"

[transport]
rto-min = "${timer}"
initial-window = "${window}mss"

[scheme.dctcp]
mark-threshold = "${threshold}pkt"

[[traffic]]
name = "servers"
kind = "incast"
senders = ${senders}
bytes-each = "${ANSWER_BYTES}B"
jitter = "20us"
${background ? `start = "${QUERY_AT_S * 1e3}ms"\n\n[[traffic]]\nname = "background"\nkind = "background"\nflows = 2\n` : ''}
[run]
duration = "${background ? '500ms' : '20s'}"
seed = 1
`
}
