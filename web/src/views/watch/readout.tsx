/** The moment in numbers, and the ports in a table. */

import { DataTable, type TableColumn } from '../../ui/table'
import { digits, withUnit } from '../../ui/numbers'
import { firstAbove } from '../../ui/chartdata'
import type { Jump } from './controls'
import type { Moment } from './player'
import type { Port } from './ports'
import type { Watched } from './stage'

interface Props {
  moment: Moment
  watched: Watched
  jumps: Jump[]
}

export function Readout({ moment, watched, jumps }: Props) {
  const { time } = moment
  const { strip, ports } = watched
  const queue = strip.packets[firstAbove(strip.time, time) - 1] ?? 0
  const counts = jumps.map(({ name, times }) => ({ name, so: firstAbove(times, time), all: times.length }))
  const placed = jumps.find((jump) => jump.name === 'timeout')?.times.length ?? 0
  const timeouts = Number(watched.trace.outcome.summary.timeouts)
  return (
    <>
      <dl class="readout">
        <Figure name="Time" value={`${(time * 1000).toFixed(4)} ms`} />
        <Figure name="On links" value={digits(moment.onLinks)} />
        <Figure name="At ports" value={digits(moment.waiting)} />
        <Figure name="Bottleneck" value={`${digits(queue)} pkt`} />
        {counts.map(({ name, so, all }) => (
          <Figure
            key={name}
            name={`${name[0]?.toUpperCase() ?? ''}${name.slice(1)}s`}
            value={`${digits(so)} of ${digits(all)}`}
          />
        ))}
        <Figure name="Frames" value={moment.playing ? `${moment.frames} per s` : 'paused'} />
      </dl>
      {placed < timeouts && (
        <p class="soft small">{`${digits(timeouts - placed)} more timeouts of this run have no known time: their flows were not probed.`}</p>
      )}
      <p class="visually-hidden" role="status">
        {moment.playing
          ? ''
          : `${withUnit(time, 's')}: ${moment.onLinks} packets on links, ${moment.waiting} at ports, ${queue} at the bottleneck`}
      </p>
      <DataTable
        caption="Ports at which packets waited, over the whole run"
        columns={COLUMNS}
        rows={ports}
        limit={100}
      />
    </>
  )
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

const COLUMNS: TableColumn<Port>[] = [
  { title: 'Port', value: (port) => port.name },
  {
    title: 'Largest queue',
    value: (port) => port.maxPackets,
    cell: (port) => `${digits(port.maxPackets)} pkt`,
    numeric: true,
  },
  { title: 'in bytes', value: (port) => port.maxBytes, cell: (port) => withUnit(port.maxBytes, 'B'), numeric: true },
  { title: 'Drops', value: (port) => port.drops, cell: (port) => digits(port.drops), numeric: true },
  { title: 'Marks', value: (port) => port.marks, cell: (port) => digits(port.marks), numeric: true },
]
