/** The course: eight steps, each with a small run. All numbers in the texts come from the runs. */

import { digits, withUnit } from '../../ui/numbers'
import type { Query } from './runs'
import { ANSWER_BYTES, BUFFER_PACKETS, LINK_BPS, SENDERS, scenario, type Values } from './scenario'

export type Control = 'senders' | 'timer' | 'threshold' | 'window' | 'paper'
export type Picture = 'lanes' | 'queue' | 'sweep' | 'table'

export interface Step {
  title: string
  /** What happens, in plain words. */
  text: string[]
  /** What to try. */
  attempt: string
  start: Values
  controls: Control[]
  picture: Picture
  /** Whether two long flows share the way to the client. */
  background: boolean
  /** The schemes that run; the first is the one that is drawn as lanes. */
  schemes: (values: Values) => string[]
  /** What the runs show, in words: one query per scheme. */
  says: (queries: Query[], values: Values) => string
}

const START: Values = { senders: 8, timer: '200ms', threshold: 20, window: 2, scheme: 'rcc' }

/** How long the link alone needs for all answers. */
function ideal({ senders }: Values): number {
  return (senders * ANSWER_BYTES * 8) / LINK_BPS
}

function time(query: Query | undefined): string {
  if (!query) return '–'
  if (query.complete < query.senders) return `not in this run (${query.complete} of ${query.senders} answers)`
  return withUnit(query.seconds, 's')
}

function count(number: number, one: string, more = `${one}s`): string {
  return `${digits(number)} ${number === 1 ? one : more}`
}

export interface PaperText {
  scheme: string
  title: string
  idea: string
  finding: string
}

/** What each paper does about it, and what came out when its sentences were checked. */
export const PAPERS: PaperText[] = [
  {
    scheme: 'dt-cwa',
    title: 'DT-CWA, 2018',
    idea: 'DCTCP with two marking thresholds, one where marks begin and one where they end, and a window that is set anew at the start and at the end of each episode of marks.',
    finding:
      'How its first equation is meant decides everything. As printed it does not help; what gains in our runs are the two thresholds alone, because they mark later.',
  },
  {
    scheme: 'pfdct',
    title: 'PFDCT, 2023',
    idea: 'The switch has bands of strict priority: packets of short flows go before those of long ones. Senders of long flows adapt the threshold of their marks.',
    finding:
      'It sets short flows before long ones; among short flows nobody is in front. The throughput that the paper prints can be explained by a rule of older ns-3 releases, which wait a second for a first timeout.',
  },
  {
    scheme: 'rcc',
    title: 'RCC, 2017',
    idea: 'All answers end at one receiver, so the receiver decides: it sets the windows of its senders and holds acknowledgements back, so that no more segments are on their way than the port can hold.',
    finding:
      'The scheduler does what it is for: a count, which needs no luck. Its marks play no part on one switch. It also schedules the long flows, which get little meanwhile.',
  },
  {
    scheme: 'rcce',
    title: 'RCCE, 2019',
    idea: 'RCC by the rules of another paper, with a scheduler and aggregators at the edge of the network, and pieces of flows that are spread over several trees of a larger network.',
    finding:
      'On one switch, as here, it is RCC. Between racks the trees help, and they keep flows alive when a cable fails; the edge costs more than it saves.',
  },
  {
    scheme: 'sdtcp',
    title: 'SDTCP, 2017',
    idea: 'Switches tell a central controller when a queue grows, and the controller reduces the windows of long background flows until the burst is over.',
    finding:
      'It fills the link, and the background flow pays. A burst with no background flow beside it gains little, and the first window of every sender must still fit into the buffer.',
  },
]

export const steps: Step[] = [
  {
    title: 'One question, many answers',
    text: [
      'A client asks many servers the same thing at the same moment: a search, a read from a striped disk, a step of a training job. It can only go on when it has the last answer.',
      'Each row below is a server, and each dot a packet of its answer that arrives. All of them share the one link to the client.',
    ],
    attempt: 'Turn up the senders one stop: more answers take longer, in proportion. So far that is fair.',
    start: { ...START, senders: 4 },
    controls: ['senders'],
    picture: 'lanes',
    background: false,
    schemes: () => ['newreno'],
    says: ([query], values) =>
      `${count(values.senders, 'answer')} of 32 KB took ${time(query)}. The link alone would need ${withUnit(ideal(values), 's')}.`,
  },
  {
    title: 'The switch has little room',
    text: [
      `All packets meet in front of one port of the switch. It can hold ${BUFFER_PACKETS} packets, and one leaves at a time. What comes when it is full is dropped.`,
      'TCP sends more and more until something is lost: it learns the speed of the path in no other way. With many senders each doubling what it sends, the room is gone within a few round trips.',
    ],
    attempt: 'From which number of senders on does the queue reach the limit?',
    start: { ...START, senders: 12 },
    controls: ['senders'],
    picture: 'queue',
    background: false,
    schemes: () => ['newreno'],
    says: ([query]) =>
      query && query.drops > 0
        ? `The queue reached ${count(query.longestQueue, 'packet')}, and ${count(query.drops, 'packet was', 'packets were')} dropped.`
        : `The queue reached ${count(query?.longestQueue ?? 0, 'packet')}, and nothing was dropped.`,
  },
  {
    title: 'One answer waits, and all wait for it',
    text: [
      'A lost packet is usually noticed fast, because later packets of the same answer arrive and show the gap. But if the end of an answer is lost, or all of it, nothing follows. Then only a timer helps: the sender waits until it is sure that nothing will come.',
      'The minimum of that timer is 200 ms in many systems. The long empty stretch below is that wait. The link is idle, and the client cannot go on: this is incast collapse.',
    ],
    attempt: 'How many of the answers wait? One is enough.',
    start: { ...START, senders: 24 },
    controls: ['senders'],
    picture: 'lanes',
    background: false,
    schemes: () => ['newreno'],
    says: ([query], values) =>
      query
        ? `${query.waited} of ${values.senders} answers waited for a timer. The query took ${time(query)}, where the link needs ${withUnit(ideal(values), 's')}: ${withUnit(query.goodputBps / LINK_BPS, '%')} of the link was used.`
        : '',
  },
  {
    title: 'What the timer does',
    text: [
      'If the wait is the trouble, wait less. The timer does not prevent a single loss; it makes each one cheaper.',
      'The dotted line is the timer of 200 ms. Goodput is all bytes of the query over the time until its last one.',
    ],
    attempt: 'Shorten the timer. In a larger network a timer below the round trip would send everything twice.',
    start: { ...START, timer: '10ms', senders: 48 },
    controls: ['timer', 'senders'],
    picture: 'sweep',
    background: false,
    schemes: () => ['newreno'],
    says: ([query], values) =>
      query
        ? `With a timer of at least ${values.timer}, ${values.senders} senders need ${time(query)}; ${query.waited} of them wait for it, and ${count(query.drops, 'packet is', 'packets are')} lost.`
        : '',
  },
  {
    title: 'What marking does',
    text: [
      'A switch can speak before it is full. With DCTCP it marks packets while the queue is longer than a threshold, the receiver tells the senders, and they slow down in proportion to the share of marks.',
      'So the queue stays near the threshold, and nothing need be lost.',
    ],
    attempt: 'Move the threshold. Too high, and the marks come too late; very low, and the link may run dry.',
    start: { ...START, senders: 24 },
    controls: ['threshold', 'senders'],
    picture: 'queue',
    background: false,
    schemes: () => ['dctcp', 'newreno'],
    says: ([dctcp, tcp]) =>
      dctcp && tcp
        ? `DCTCP: longest queue ${count(dctcp.longestQueue, 'packet')}, ${count(dctcp.drops, 'loss', 'losses')}, ${time(dctcp)}. TCP: ${count(tcp.longestQueue, 'packet')}, ${count(tcp.drops, 'loss', 'losses')}, ${time(tcp)}.`
        : '',
  },
  {
    title: 'Where marking ends',
    text: [
      'A mark asks a sender to slow down. But a sender cannot have less than its smallest window on the way, and it sends its first window before any mark can reach it.',
      'Once the first windows of all senders together are more than the buffer and the path can hold, packets are lost whatever the switch says.',
    ],
    attempt: 'Let each sender begin with one segment, or with ten, and see where DCTCP falls.',
    start: { ...START, senders: 48 },
    controls: ['window', 'senders'],
    picture: 'sweep',
    background: false,
    schemes: () => ['dctcp', 'newreno'],
    says: ([dctcp], values) =>
      dctcp
        ? `${values.senders} senders begin with ${count(values.window * values.senders, 'packet')} together; the buffer holds ${BUFFER_PACKETS}. DCTCP loses ${count(dctcp.drops, 'packet')} and needs ${time(dctcp)}.`
        : '',
  },
  {
    title: 'What five papers do about it',
    text: [
      'Each of the five papers has another idea of who should slow down whom. Here two long flows already fill the queue when the query comes, as in most of the papers.',
    ],
    attempt: 'Go through the five, and then give each sender a larger first window.',
    start: { ...START, senders: 48, timer: '10ms', window: 1 },
    controls: ['paper', 'senders', 'window'],
    picture: 'lanes',
    background: true,
    schemes: (values) => [values.scheme, 'dctcp'],
    says: ([own, dctcp], values) =>
      own && dctcp
        ? `${values.scheme}: the query took ${time(own)}, ${count(own.drops, 'packet')} of it lost, ${own.waited} of ${values.senders} answers waited for a timer. DCTCP on the same work: ${time(dctcp)}, ${count(dctcp.drops, 'packet')} lost, ${dctcp.waited} waited.`
        : '',
  },
  {
    title: 'What it costs the others',
    text: [
      'The query is not alone. Whatever makes room for it takes room from the two long flows, and some remedies take nearly all.',
      'There is no best remedy, only one for your network: how many senders, how much buffer, what else is on the link. Papers shows all systems on the same work, and Play lets you set up your own.',
    ],
    attempt: 'Change the number of senders and the timer, and sort by what matters to you.',
    start: { ...START, senders: 24, timer: '10ms' },
    controls: ['senders', 'timer'],
    picture: 'table',
    background: true,
    schemes: () => ['newreno', 'dctcp', ...PAPERS.map((paper) => paper.scheme)],
    says: (queries) => {
      const rates = queries.map((query) => query.backgroundBps ?? 0)
      return queries.length > 0
        ? `Over half a second the long flows have between ${withUnit(Math.min(...rates), 'bit/s')} and ${withUnit(Math.max(...rates), 'bit/s')}, as the remedy has it.`
        : ''
    },
  },
]

export function tomlOf(step: Step, values: Values): string {
  return scenario(values, step.background)
}

/** The scenarios of a curve over the number of senders. */
export function sweepOf(step: Step, values: Values): string[] {
  return SENDERS.map((senders) => tomlOf(step, { ...values, senders }))
}
