/** The seven views, each loaded when it is first opened. */

import type { ComponentType } from 'preact'

export interface View {
  path: string
  title: string
  /** Whether its address holds the scenario. */
  scenario: boolean
  load: () => Promise<{ default: ComponentType }>
}

export const views: View[] = [
  { path: 'learn', title: 'Learn', scenario: false, load: () => import('../views/learn') },
  { path: 'play', title: 'Play', scenario: true, load: () => import('../views/play') },
  { path: 'watch', title: 'Watch', scenario: true, load: () => import('../views/watch') },
  { path: 'lanes', title: 'Lanes', scenario: true, load: () => import('../views/lanes') },
  { path: 'compare', title: 'Compare', scenario: true, load: () => import('../views/compare') },
  { path: 'papers', title: 'Papers', scenario: false, load: () => import('../views/papers') },
  { path: 'runs', title: 'Runs', scenario: false, load: () => import('../views/runs') },
]
