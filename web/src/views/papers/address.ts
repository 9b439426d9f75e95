/** What Papers shows is in the address, beside the scenario of the other views. */

import { useEffect, useState } from 'preact/hooks'
import { routeOf } from '../../scenario/current'

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

/** The address that shows this. */
export function addressOf(values: Record<string, string>): string {
  return `#/papers?${new URLSearchParams(values).toString()}`
}
