/** The scenario that Play, Watch, Lanes and Compare look at, and its way into the address. */

import { Store } from '../ui/store'
import { decode, encode, type Scenario } from './address'
import { presets } from './presets'

export const current = new Store<Scenario>({ toml: presets[0].toml, schemes: presets[0].compare })

/** Why the address could not be read, or empty. */
export const addressProblem = new Store('')

export interface Route {
  view: string
  params: URLSearchParams
}

/** `#/view?s=...`: the view, and what it shows. */
export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  return { view: path, params: new URLSearchParams(query) }
}

let written = ''

/** Takes the scenario from the address, if it holds another one than was written there. */
export async function readAddress(): Promise<void> {
  const text = routeOf(location.hash).params.get('s')
  if (text === null || text === written) return
  try {
    const scenario = await decode(text)
    written = text
    addressProblem.set('')
    current.set(scenario)
  } catch (error) {
    addressProblem.set((error as Error).message)
  }
}

/** Writes the scenario into the address of the view that is open. */
export async function writeAddress(view: string): Promise<void> {
  const before = routeOf(location.hash).view
  const text = await encode(current.get())
  const { view: now, params } = routeOf(location.hash)
  // Somebody has gone to another view meanwhile, whose address this is not.
  if (now !== before) return
  written = text
  params.set('s', text)
  history.replaceState(null, '', `#/${view}?${params.toString()}`)
}

/** Takes another scenario; the browser's way back leads to the one before. */
export function replace(scenario: Scenario): void {
  history.pushState(null, '', location.href)
  current.set(scenario)
}

/** Opens a scenario in another view, Play if none is named. */
export function open(scenario: Scenario, view = 'play'): void {
  current.set(scenario)
  location.hash = `#/${view}`
}
