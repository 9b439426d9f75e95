/** What is around everything that is shown: the bar with its links and the theme, and the way past it. */

import type { ComponentChildren } from 'preact'
import { toggleTheme, useTheme } from './theme'

interface Props {
  brand: ComponentChildren
  navigation?: ComponentChildren
  children: ComponentChildren
}

export function Frame({ brand, navigation, children }: Props) {
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header class="bar">
        {brand}
        {navigation}
        <ThemeButton />
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </>
  )
}

/** The hash belongs to the views, so that the link cannot change it. */
function skip(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

function ThemeButton() {
  const theme = useTheme()
  const other = theme === 'dark' ? 'light' : 'dark'
  return (
    <button type="button" class="plain theme" onClick={toggleTheme} aria-label={`Switch to the ${other} theme`}>
      <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
        <circle cx="12" cy="12" r="8" fill="none" stroke="currentColor" stroke-width="2" />
        <path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor" />
      </svg>
    </button>
  )
}
