/** The page around the views: navigation, and what went wrong with the address. */

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { addressProblem, current, readAddress, routeOf, writeAddress } from '../scenario/current'
import { Frame } from './frame'
import { useStore } from './store'
import { views, type View } from './views'

/** While somebody types or drags, the address follows only at rest. */
const ADDRESS_DELAY_MS = 300

export function Shell() {
  const path = useAddress()
  const view = viewOf(path)
  const problem = useStore(addressProblem)
  const brand = (
    <a class="brand" href="#/learn" aria-label="fanin, to the first view">
      <img src="./icon.svg" alt="" width="24" height="24" /> fanin
    </a>
  )
  const navigation = (
    <nav aria-label="Views">
      {views.map((each) => (
        <a key={each.path} href={`#/${each.path}`} aria-current={each === view ? 'page' : undefined}>
          {each.title}
        </a>
      ))}
    </nav>
  )
  return (
    <Frame brand={brand} navigation={navigation}>
      {problem && (
        <p class="note bad" role="alert">
          {problem}
        </p>
      )}
      {view && <Lazy key={view.path} load={view.load} title={view.title} />}
    </Frame>
  )
}

function viewOf(path: string): View | undefined {
  return views.find((each) => each.path === path) ?? views[0]
}

/** The path of the view that the address names; the scenario goes to the address and comes from it. */
function useAddress(): string {
  const [path, setPath] = useState(routeOf(location.hash).view)
  useEffect(() => {
    const follow = () => {
      setPath(routeOf(location.hash).view)
      void readAddress().then(() => {
        if (!routeOf(location.hash).params.has('s')) keepAddress()
      })
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = current.subscribe(() => {
      clearTimeout(timer)
      timer = setTimeout(keepAddress, ADDRESS_DELAY_MS)
    })
    addEventListener('hashchange', follow)
    follow()
    return () => {
      removeEventListener('hashchange', follow)
      clearTimeout(timer)
      stop()
    }
  }, [])
  return path
}

/** The address of a view that shows the scenario holds it. */
function keepAddress(): void {
  const view = viewOf(routeOf(location.hash).view)
  if (view?.scenario) void writeAddress(view.path)
}

interface LazyProps {
  load: () => Promise<{ default: ComponentType }>
  title: string
}

function Lazy({ load, title }: LazyProps) {
  const [Found, setFound] = useState<ComponentType | undefined>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    document.title = `${title} · fanin`
    let wanted = true
    load().then(
      (module) => {
        if (wanted) setFound(() => module.default)
      },
      (error: unknown) => {
        if (wanted) setProblem(String(error))
      },
    )
    return () => {
      wanted = false
    }
  }, [load, title])
  if (problem) return <p class="note bad">{`This view could not be loaded: ${problem}`}</p>
  return Found ? <Found /> : <p class="soft">Loading…</p>
}
