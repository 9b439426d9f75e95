/** The seven views, each loaded when it is first opened. */

import type { ComponentType } from 'preact'

export interface View {
  path: string
  title: string
  load: () => Promise<{ default: ComponentType }>
}

export const views: View[] = [
  { path: 'play', title: 'Play', load: () => import('../views/play') },
  { path: 'watch', title: 'Watch', load: () => import('../views/watch') },
  { path: 'lanes', title: 'Lanes', load: () => import('../views/lanes') },
  { path: 'compare', title: 'Compare', load: () => import('../views/compare') },
  { path: 'papers', title: 'Papers', load: () => import('../views/papers') },
  { path: 'learn', title: 'Learn', load: () => import('../views/learn') },
  { path: 'runs', title: 'Runs', load: () => import('../views/runs') },
]
