/** The first steps: what incast is, what the timer does, and what marking does. */

import { digits, withUnit } from '../../ui/numbers'
import type { Facts } from './facts'
import { ANSWER_BYTES, BUFFER_PACKETS, LINK_BPS, marking, plain } from './scenarios'
import { numberOf, valueOf, type Contender, type Control, type Step, type Stop, type Values } from './step'
import { compared, count, losses, share, when } from './words'

export const ANSWERS = { one: 'answer', more: 'answers' }
const SIZE = `${ANSWER_BYTES / 1000} KB`

export function slider(key: string, label: string, stops: (Stop | number)[], start: string): Control {
  const each = stops.map((stop) => (typeof stop === 'number' ? { value: String(stop), shown: String(stop) } : stop))
  return { key, label, kind: 'slider', stops: each, start }
}

export function senders(stops: number[], start: number): Control {
  return slider('senders', 'Senders', stops, String(start))
}

/** The same values under each of these schemes. */
export function under(schemes: [scheme: string, label: string][]): (values: Values) => Contender[] {
  return (values) => schemes.map(([scheme, label]) => ({ scheme, label, values }))
}

/** How long the cable alone needs for all payload. */
function alone({ bits }: Facts): number {
  return bits / LINK_BPS
}

/** From here on the cable is idle for most of the time. */
const COLLAPSE = 0.5

function saysCollapse(facts: Facts): string[] {
  const { answers, lost, waited, seconds, queue } = facts
  const used = seconds === undefined ? 0 : alone(facts) / seconds
  const first = `The client has all of ${answers} answers after ${when(facts)}. The cable alone needs ${withUnit(alone(facts), 's')} for them.`
  const room = `The queue grew to ${queue} of ${BUFFER_PACKETS} packets`
  if (lost === 0) return [first, `${room}, and nothing was lost.`]
  const dropped = `${room}, and ${count(lost, 'packet was', 'packets were')} lost.`
  if (waited === 0)
    return [
      first,
      dropped,
      'Later packets showed every gap, so no answer waited for a timer. Which packets are lost is a matter of chance.',
    ]
  const stalled = `${count(waited, 'answer', 'answers')} waited for a timer, and so did the client: ${share(used)} of the cable was used.`
  return [first, dropped, stalled, ...(used < COLLAPSE ? ['This is incast collapse.'] : [])]
}

const collapse: Step = {
  id: 'collapse',
  title: 'Many answers, one cable',
  text: [
    'A client asks many servers at the same moment: a search, a read from many disks. It can only go on when it has the last answer. That is incast.',
    `Each server sends ${SIZE}. All of it leaves the switch over one cable, of 1 Gbit/s. What has to wait stands in a queue with room for ${BUFFER_PACKETS} packets. A packet that finds the queue full is lost.`,
    'A gap shows when later packets of the same answer arrive, and is repaired at once. When the end of an answer is lost, nothing shows it. Its sender waits for a timer, of at least 200 ms here.',
  ],
  attempt: 'Drag the senders up, stop by stop, until a row waits for its timer.',
  controls: [senders([2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48], 8)],
  toml: plain,
  contenders: under([['newreno', 'TCP']]),
  picture: { kind: 'lanes' },
  waitsFor: ANSWERS,
  says: ([facts]) => (facts ? saysCollapse(facts) : []),
}

const USUAL_TIMER = '200ms'
const TIMERS = ['200us', '500us', '1ms', '2ms', '5ms', '10ms', '20ms', '50ms', '100ms', USUAL_TIMER].map((value) => ({
  value,
  shown: value.replace('us', ' µs').replace('ms', ' ms'),
}))

function saysTimer([usual, own]: Facts[]): string[] {
  if (!usual || !own) return []
  const cost = ({ lost, again }: Facts) => `loses ${count(lost, 'packet', 'packets')} and sends ${digits(again)} again`
  return [
    compared(own, { ...usual, label: 'the usual one' }, ANSWERS.more),
    `Your timer ${cost(own)}. The usual one ${cost(usual)}.`,
  ]
}

const timer: Step = {
  id: 'timer',
  title: 'What the timer does',
  text: [
    'A sender that hears nothing waits, and then sends again. How long it waits at least is a setting. 200 ms is usual, and very long for a cable that carries all answers in a few milliseconds.',
    'A shorter timer makes a loss cheaper. It does not make room in the queue.',
    'It can be too short. Then it runs out while packets only stand in the queue, and they are sent twice.',
  ],
  attempt: 'Shorten the timer. Watch the time fall, and what is lost and sent again.',
  controls: [slider('timer', 'Shortest wait', TIMERS, '20ms'), senders([12, 24, 32, 40, 48], 48)],
  toml: (values) => plain(values, valueOf(values, 'timer')),
  contenders: (values) => [
    { scheme: 'newreno', label: 'Usual timer', values: { ...values, timer: USUAL_TIMER } },
    { scheme: 'newreno', label: 'Your timer', values },
  ],
  picture: { kind: 'lanes' },
  waitsFor: ANSWERS,
  says: saysTimer,
}

/** Packets that a sender has on its way at least. */
const LEAST = 2

function saysMarking([dctcp, tcp]: Facts[], values: Values): string[] {
  if (!dctcp || !tcp) return []
  const least = LEAST * dctcp.answers
  const late = least < numberOf(values, 'threshold')
  const why = late
    ? `Marks come too late here: two packets for each sender, ${least} in all, would have found room.`
    : `Two packets for each sender are ${least}, and there is room for ${BUFFER_PACKETS}.`
  return [
    compared(dctcp, tcp, ANSWERS.more),
    losses(dctcp, ANSWERS.one, ANSWERS.more),
    losses(tcp, ANSWERS.one, ANSWERS.more),
    ...(dctcp.lost > 0 ? [why] : []),
  ]
}

const marks: Step = {
  id: 'marks',
  title: 'What marking does',
  text: [
    'A switch can speak before it is full. With DCTCP it marks each packet that finds the queue longer than a threshold. The receiver passes the marks on to the sender.',
    'The more of its packets are marked, the more a sender slows down. So the queue can stay short, and need not overflow.',
    'There is a limit. A sender has two packets on their way at least, and it sends its first packets before a mark can reach it.',
  ],
  attempt: 'Move the threshold up to where marks come too late. Put it back, and add senders.',
  controls: [
    slider(
      'threshold',
      'Marks from',
      [5, 10, 20, 30, 40, 60, 80].map((each) => ({ value: String(each), shown: `${each} packets` })),
      '20',
    ),
    senders([8, 16, 24, 32, 40, 48, 64], 24),
  ],
  toml: marking,
  contenders: under([
    ['dctcp', 'DCTCP'],
    ['newreno', 'TCP'],
  ]),
  picture: {
    kind: 'queue',
    limits: (values) => [
      { label: `room for ${BUFFER_PACKETS}`, y: BUFFER_PACKETS },
      { label: 'threshold', y: numberOf(values, 'threshold') },
    ],
  },
  waitsFor: ANSWERS,
  says: saysMarking,
}

export const basics = [collapse, timer, marks]
