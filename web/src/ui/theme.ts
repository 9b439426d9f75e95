/** Light or dark: as the system says, until the visitor chooses. */

import { Store, useStore } from './store'

export type Theme = 'light' | 'dark'

const KEY = 'fanin-theme'
const system = matchMedia('(prefers-color-scheme: dark)')

/** A page in a frame, as some sites show reports, may keep nothing. */
function kept(): Storage | undefined {
  try {
    return localStorage
  } catch {
    return undefined
  }
}

function initial(): Theme {
  const chosen = kept()?.getItem(KEY)
  if (chosen === 'light' || chosen === 'dark') return chosen
  return system.matches ? 'dark' : 'light'
}

const theme = new Store<Theme>(initial())

function apply(value: Theme): void {
  document.documentElement.dataset.theme = value
}

apply(theme.get())
theme.subscribe(apply)
system.addEventListener('change', () => {
  theme.set(initial())
})

export function toggleTheme(): void {
  const next = theme.get() === 'dark' ? 'light' : 'dark'
  kept()?.setItem(KEY, next)
  theme.set(next)
}

export function useTheme(): Theme {
  return useStore(theme)
}
