/** Papers: what the papers say, what came out, the experiments behind it, and the ranking of all systems on the same work. */

import { counted, papers, type Papers as Data } from '../../data/papers'
import { About } from './about'
import { useParams, type Change } from '../../scenario/params'
import { Browse } from './browse'
import { Experiments } from './experiments'
import { Heat } from './heat'
import './papers.css'
import { Loading } from './shared'

interface TabProps {
  papers: Data
  params: URLSearchParams
  change: Change
}

interface Tab {
  key: string
  title: string
  heading: string
  has: (papers: Data) => boolean
  content: (props: TabProps) => preact.JSX.Element
}

const TABS: Tab[] = [
  {
    key: '',
    title: 'Sentences',
    heading: 'What the papers say, and what comes out',
    has: ({ sentences }) => counted(sentences).some(({ run }) => run),
    content: (props) => <Browse {...props} />,
  },
  {
    key: 'experiments',
    title: 'Experiments',
    heading: 'The experiments, and how they were run',
    has: () => true,
    content: (props) => <Experiments {...props} />,
  },
  {
    key: 'ranking',
    title: 'Ranking',
    heading: 'All systems on the same work',
    has: ({ ranked }) => ranked,
    content: ({ params, change }) => <Heat params={params} change={change} />,
  },
  {
    key: 'about',
    title: 'About',
    heading: 'What the verdicts rest on',
    has: () => true,
    content: (props) => <About papers={props.papers} />,
  },
]

export default function Papers() {
  const [params, change] = useParams()
  return (
    <div class="papers">
      <Loading load={papers} name="" shown={(found) => <Tabs papers={found} params={params} change={change} />} />
    </div>
  )
}

function Tabs({ papers, params, change }: TabProps) {
  const tabs = TABS.filter((tab) => tab.has(papers))
  const here = tabs.find(({ key }) => key === (params.get('tab') ?? '')) ?? tabs[0]
  if (!here) return null
  return (
    <>
      <h1>{here.heading}</h1>
      <div class="row papers-tabs" role="group" aria-label="Show">
        {tabs.map((tab) => (
          <button
            key={tab.key}
            type="button"
            class="chip"
            aria-pressed={tab === here}
            onClick={() => {
              change({ tab: tab.key })
            }}
          >
            {tab.title}
          </button>
        ))}
      </div>
      {here.content({ papers, params, change })}
    </>
  )
}
