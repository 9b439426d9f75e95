/** Papers: what the papers say, what came out, and the ranking of all systems on the same work. */

import { papers } from '../../data/papers'
import { useLoaded } from '../../ui/store'
import { useParams, type Change } from './address'
import { Browse } from './browse'
import { Heat } from './heat'
import './papers.css'

export default function Papers() {
  const [params, change] = useParams()
  const loaded = useLoaded(papers, [])
  const ranked = params.get('tab') === 'ranking'
  return (
    <div class="papers">
      <h1>{ranked ? 'All systems on the same work' : 'What the papers say, and what comes out'}</h1>
      <Tabs ranked={ranked} change={change} />
      {loaded.state === 'waiting' && <p class="soft">Loading…</p>}
      {loaded.state === 'failed' && (
        <p class="note bad" role="alert">
          {loaded.error.message}
        </p>
      )}
      {ranked && <Heat params={params} change={change} />}
      {!ranked && loaded.state === 'ready' && <Browse papers={loaded.value} params={params} change={change} />}
    </div>
  )
}

function Tabs({ ranked, change }: { ranked: boolean; change: Change }) {
  const tab = (title: string, value: string, here: boolean) => (
    <button
      type="button"
      class="chip"
      aria-pressed={here}
      onClick={() => {
        change({ tab: value })
      }}
    >
      {title}
    </button>
  )
  return (
    <div class="row papers-tabs" role="group" aria-label="Show">
      {tab('Sentences', '', !ranked)}
      {tab('Ranking', 'ranking', ranked)}
    </div>
  )
}
