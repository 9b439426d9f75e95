import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { counted, filterOf, matching, type Experiment, type Papers } from './papers'

const file = (name: string): unknown => JSON.parse(readFileSync(`public/data/${name}`, 'utf8'))
const kept = file('papers.json') as Papers
const none = filterOf(new URLSearchParams())

test('Sentences that count are as many as the papers say', () => {
  const all = kept.papers.reduce((sum, paper) => sum + paper.sentences, 0)
  expect(counted(kept.sentences)).toHaveLength(all)
})

test('A filter lets through what has its paper, verdict, system and all of its words', () => {
  const every = counted(kept.sentences)
  expect(matching(every, none)).toHaveLength(every.length)
  const paper = kept.papers.find((each) => each.key === 'sdtcp')
  const missed = matching(every, { ...none, paper: 'sdtcp', verdict: 'not found' })
  expect(missed).toHaveLength(paper?.counts['not found'] ?? -1)
  for (const each of matching(every, { ...none, system: 'dctcp' })) expect(each.systems).toContain('dctcp')
  const words = matching(every, { ...none, words: 'GOODPUT  collapse' })
  expect(words.length).toBeGreaterThan(0)
  expect(words.every((each) => /goodput/i.test(each.says + each.id))).toBe(true)
  expect(matching(every, { ...none, words: 'goodput nowhere-to-be-found' })).toEqual([])
})

test('What was not run is shown to whoever asks for it', () => {
  const every = counted(kept.sentences).map((each) => ({ ...each, run: each.paper !== 'rcc' }))
  expect(matching(every, { ...none, paper: 'rcc' })).toEqual([])
  expect(matching(every, { ...none, paper: 'rcc', verdict: 'under a condition' })).not.toEqual([])
})

test('A filter comes from the address', () => {
  expect(filterOf(new URLSearchParams('q=fig+9&paper=rcc&verdict=not+found&system=rcc&s=x'))).toEqual({
    words: 'fig 9',
    paper: 'rcc',
    verdict: 'not found',
    system: 'rcc',
  })
})

test('Lines of figures have as many values as places, which rise', () => {
  for (const key of ['sdtcp/fig9', 'rcc/fig2a']) {
    const { figures } = file(`experiments/${key}.json`) as Experiment
    for (const line of figures.flatMap((figure) => figure.lines)) {
      expect(line.y).toHaveLength(line.x.length)
      const numbers = line.x.map(Number)
      expect([...numbers].sort((one, other) => one - other)).toEqual(numbers)
    }
  }
})
