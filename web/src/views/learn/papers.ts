/** The last five steps: what each paper does about it, and what came out when its sentences were checked (docs/papers). */

import { ANSWERS, senders, slider, under } from './basics'
import type { Facts } from './facts'
import {
  besideLongFlows,
  betweenRacks,
  BUFFER_PACKETS,
  controlled,
  CONTROLLER_LEVELS,
  scheduled,
  twoThresholds,
} from './scenarios'
import type { Control, Step } from './step'
import { compared, losses, meanwhile } from './words'

const ROOM = { label: `room for ${BUFFER_PACKETS}`, y: BUFFER_PACKETS }

/** The paper's system beside what it is compared with. */
function beside([own, other]: Facts[]): string[] {
  if (!own || !other) return []
  const lines = [own, other].map((each) => losses(each, ANSWERS.one, ANSWERS.more))
  return [compared(own, other, ANSWERS.more), ...lines]
}

function besideLong([own, other]: Facts[]): string[] {
  return own && other ? [...beside([own, other]), meanwhile(own, other)] : []
}

function choice(key: string, label: string, stops: [value: string, shown: string][]): Control {
  const [first] = stops
  return {
    key,
    label,
    kind: 'choice',
    stops: stops.map(([value, shown]) => ({ value, shown })),
    start: first?.[0] ?? '',
  }
}

const dtcwa: Step = {
  id: 'dt-cwa',
  title: 'DT-CWA: two thresholds',
  text: [
    'DT-CWA changes DCTCP in two places. The switch has two thresholds: marks begin at one while the queue grows, and end at the other while it shrinks.',
    'The sender sets its window anew when marks begin and when they end. It computes the window from the largest and the smallest that it has had.',
    'The paper sets out against windows that fall to one packet. If the receiver acknowledges only every second packet, such a window has to wait for a timer, which is of 10 ms here.',
  ],
  attempt: 'Let the client acknowledge only every second packet, with few senders and with many.',
  controls: [
    choice('acks', 'The client acknowledges', [
      ['1', 'every packet'],
      ['2', 'every second packet'],
    ]),
    senders([8, 16, 24, 32, 40], 16),
  ],
  toml: twoThresholds,
  contenders: under([
    ['dt-cwa', 'DT-CWA'],
    ['dctcp', 'DCTCP'],
  ]),
  picture: { kind: 'lanes' },
  waitsFor: ANSWERS,
  says: beside,
  found: {
    paper: 'dtcwa',
    text: 'Its gain depends on what the paper leaves open. As printed, its rule for the start of marks does not help over ten runs: windows fall to one packet. What gains are the two thresholds alone, because they mark later than DCTCP’s.',
  },
}

const pfdct: Step = {
  id: 'pfdct',
  title: 'PFDCT: short flows first',
  text: [
    'Long flows, such as copies of disks, fill the queue before the question is asked. The timer is of 10 ms here.',
    'PFDCT’s switch has a queue of its own for short flows, and sends from it first. A long flow goes on when no short one has a packet there.',
    'Only long flows are marked, and their senders move the threshold. So short ones are in front of long ones, but not of one another.',
  ],
  attempt: 'Begin with few senders. Then add some until the short flows overflow their own queue.',
  controls: [senders([4, 8, 12, 16, 20, 24, 32, 48], 12)],
  toml: besideLongFlows,
  contenders: under([
    ['pfdct', 'PFDCT'],
    ['dctcp', 'DCTCP'],
  ]),
  picture: { kind: 'lanes' },
  waitsFor: ANSWERS,
  says: besideLong,
  found: {
    paper: 'pfdct',
    text: 'The rate that the paper prints can be explained by a rule of older ns-3 releases, which wait a second for the first timeout. There, neither its two queues nor its moving threshold carry the gain.',
  },
}

const sdtcp: Step = {
  id: 'sdtcp',
  title: 'SDTCP: a controller',
  text: [
    'A controller knows all flows of the network. Switches report to it when a queue reaches one of three levels.',
    'It then makes the switch write smaller windows into what receivers send back: first for long flows, and at the highest level for all.',
    'So long flows make way until the burst is over. Servers and clients stay as they are, with a timer of 30 ms.',
  ],
  attempt: 'Add senders. Look at what the long flow has left.',
  controls: [senders([4, 8, 16, 20, 30, 40, 60, 80], 30)],
  toml: controlled,
  contenders: under([
    ['sdtcp', 'SDTCP'],
    ['newreno', 'TCP'],
  ]),
  picture: {
    kind: 'queue',
    limits: () => [ROOM, ...CONTROLLER_LEVELS.map((y, index) => ({ label: `level ${index + 1}`, y }))],
  },
  waitsFor: ANSWERS,
  says: besideLong,
  found: {
    paper: 'sdtcp',
    text: 'It fills the cable, and the long flow pays: beside ten bursts it keeps half of its fair share. Without a long flow it gains nothing over SAB, which needs no controller.',
  },
}

const rcc: Step = {
  id: 'rcc',
  title: 'RCC: the receiver gives turns',
  text: [
    'All answers end at one client, so the client can decide. With RCC it counts how many packets may be on their way to it: 40 in the paper.',
    'A sender goes on when the client acknowledges what it has sent. When all places are taken, the client holds acknowledgements back until one is free.',
    'That is a count. It needs no marks, and nothing new in the switch. The timer is of 10 ms here.',
  ],
  attempt: 'Add senders. Then, with many of them, allow more packets than the queue has room for.',
  controls: [
    senders([16, 24, 32, 48, 64, 96], 48),
    slider(
      'places',
      'On their way',
      [10, 20, 40, 80, 120].map((each) => ({ value: String(each), shown: `${each} packets` })),
      '40',
    ),
  ],
  toml: scheduled,
  contenders: under([
    ['rcc', 'RCC'],
    ['dctcp', 'DCTCP'],
  ]),
  picture: { kind: 'queue', limits: () => [ROOM] },
  waitsFor: ANSWERS,
  says: beside,
  found: {
    paper: 'rcc',
    text: 'The scheduler does what it is for: with up to 100 senders nothing is lost. Its marks play no part on one switch. A second full cable on the way, which no receiver sees, still loses packets.',
  },
}

const FILES = { one: 'file', more: 'files' }

function saysPaths([rcce, rcc]: Facts[]): string[] {
  if (!rcce || !rcc) return []
  return [compared(rcce, rcc, FILES.more), ...[rcce, rcc].map((each) => losses(each, FILES.one, FILES.more))]
}

const rcce: Step = {
  id: 'rcce',
  title: 'RCCE: more than one path',
  text: [
    'RCCE is RCC for a larger network. Here eight files cross between two racks, and four paths lead from one to the other.',
    'With RCC, chance puts each file on one path, and some share theirs. RCCE cuts each file into pieces and sends them over trees, one after the other.',
    'When a cable fails, a controller takes it out of its tree. A file that chance has put on that cable waits for it. The timer is of 10 ms here.',
  ],
  attempt: 'Draw other paths, and then let a cable fail.',
  controls: [
    slider('draw', 'Draw of the paths', [1, 2, 3, 4, 5, 6, 7, 8], '1'),
    choice('cable', 'One of the cables', [
      ['holds', 'holds'],
      ['fails', 'fails after 2 ms'],
    ]),
  ],
  toml: betweenRacks,
  contenders: under([
    ['rcce', 'RCCE'],
    ['rcc', 'RCC'],
  ]),
  picture: { kind: 'lanes' },
  waitsFor: FILES,
  says: saysPaths,
  found: {
    paper: 'rcce',
    text: 'On one switch, where the paper measures, RCCE is RCC. Its trees help between racks, but an incast to one client ends no sooner. Its aggregators at the edge save one client half of its time if the workers are far away. They cost more than they save if the workers are near, or the clients many.',
  },
}

export const papers = [dtcwa, pfdct, sdtcp, rcc, rcce]
