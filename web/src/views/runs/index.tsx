/** Runs: the results folder of `fanin serve`. A static site says how to get there. */

import { useEffect, useState } from 'preact/hooks'
import { about, hasToken } from '../../data/served'
import { routeOf } from '../../scenario/current'
import { useLoaded } from '../../ui/store'
import { List } from './list'
import { Run } from './run'
import './runs.css'

export default function Runs() {
  return hasToken() ? <Asked /> : <HowTo />
}

function Asked() {
  const run = useRun()
  const served = useLoaded(about, [])
  if (served.state === 'waiting') return <h1>Runs</h1>
  if (served.state === 'failed') return <HowTo why={served.error.message} />
  return run === '' ? <List folder={served.value.folder} /> : <Run key={run} id={run} />
}

/** The run that the address names, or empty. */
function useRun(): string {
  const read = () => routeOf(location.hash).params.get('run') ?? ''
  const [run, setRun] = useState(read)
  useEffect(() => {
    const follow = () => {
      setRun(read())
    }
    addEventListener('hashchange', follow)
    return () => {
      removeEventListener('hashchange', follow)
    }
  }, [])
  return run
}

function HowTo({ why }: { why?: string }) {
  return (
    <>
      <h1>Runs</h1>
      {why !== undefined && (
        <p class="note part" role="alert">
          {`The server does not answer: ${why}.`}
        </p>
      )}
      <p>Here are the runs of your own results folder, once fanin serves this page on your machine:</p>
      <pre class="card">
        {"pip install 'fanin[serve]'\n"}
        {'fanin serve --out results'}
      </pre>
      <p>
        Open the address that it prints: it has a token, which is new with each start. Search, tables, exports and
        captured packets are then here, and every run with traces opens in Watch and Lanes.
      </p>
    </>
  )
}
