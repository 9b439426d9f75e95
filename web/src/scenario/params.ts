/** What a view shows beside a scenario is in the address: parameters of its own. */

import { useEffect, useState } from 'preact/hooks'
import { routeOf } from './current'

export type Change = (values: Record<string, string>) => void

/** The parameters of the address, and a way to change some of them; an empty value removes one. */
export function useParams(): [URLSearchParams, Change] {
  const [params, setParams] = useState(() => routeOf(location.hash).params)
  useEffect(() => {
    const follow = () => {
      setParams(routeOf(location.hash).params)
    }
    addEventListener('hashchange', follow)
    return () => {
      removeEventListener('hashchange', follow)
    }
  }, [])
  const change: Change = (values) => {
    const { view, params: next } = routeOf(location.hash)
    for (const [name, value] of Object.entries(values)) {
      if (value) next.set(name, value)
      else next.delete(name)
    }
    history.replaceState(null, '', `#/${view}?${next.toString()}`)
    setParams(next)
  }
  return [params, change]
}
