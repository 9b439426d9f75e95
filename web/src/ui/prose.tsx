/** Texts that were written in Markdown, as trees of nodes: none of them is HTML. */

import { h, type ComponentChildren } from 'preact'

/** A text, or tag and children, and for a link its address. */
export type Text = string | [tag: string, children: Text[], href?: string]

export function Prose({ text }: { text: Text[] }) {
  return <div class="prose">{text.map(drawn)}</div>
}

function drawn(node: Text): ComponentChildren {
  if (typeof node === 'string') return node
  const [tag, children, href] = node
  const inside = children.map(drawn)
  if (tag === 'table' || tag === 'pre') {
    const named = { class: 'scroll', role: 'region', 'aria-label': tag === 'pre' ? 'Text' : 'Table', tabIndex: 0 }
    return h('div', named, h(tag, null, inside))
  }
  return h(tag, href === undefined ? null : { href, rel: 'noreferrer' }, inside)
}
