/** A verdict or an outcome: sign, word and colour. */

import type { Word } from '../../data/papers'

interface Props {
  words: Word[]
  name: string
  edge?: boolean
  /** What follows one that is provisional. */
  mark?: string
}

export function Verdict({ words, name, edge = false, mark = '' }: Props) {
  const word = words.find((each) => each.name === name)
  return (
    <span class={`verdict tone-${word?.tone ?? 'none'}`} title={word?.meaning}>
      <span aria-hidden="true">{word?.sign}</span> {name}
      {edge ? ', at the edge' : ''}
      {mark}
    </span>
  )
}
