import { describe, expect, test } from 'vitest'
import type { ScenarioRequest } from '../../engine/types'
import { loadEngine, missingEngine } from '../../trace/engine.node'
import type { Facts } from './facts'
import { makeRun, rowsOf, type Run, type Runner } from './runs'
import { BUFFER_PACKETS, CONTROLLER_LEVELS } from './scenarios'
import { startOf, valueOf, valuesIn, type Step, type Values } from './step'
import { steps } from './steps'

test('There are eight steps, each with at most two controls, and a start that its controls can have', () => {
  expect(steps.map(({ id }) => id)).toEqual(['collapse', 'timer', 'marks', 'dt-cwa', 'pfdct', 'sdtcp', 'rcc', 'rcce'])
  for (const { controls } of steps) {
    expect(controls.length).toBeLessThanOrEqual(2)
    for (const { stops, start } of controls) expect(stops.map(({ value }) => value)).toContain(start)
  }
})

test('An address says the values of a step, and what it cannot have is left at its start', () => {
  const [step] = steps
  expect(valuesIn(step, new URLSearchParams('senders=24'))).toEqual({ senders: '24' })
  expect(valuesIn(step, new URLSearchParams('senders=23'))).toEqual(startOf(step))
  expect(valuesIn(step, new URLSearchParams())).toEqual(startOf(step))
})

test('The steps about papers say how long their timer is', () => {
  for (const step of steps.slice(3)) {
    const timer = /rto-min = "(\d+)ms"/.exec(step.toml(startOf(step)))?.[1] ?? ''
    expect(step.text.join(' '), step.id).toContain(`${timer} ms`)
  }
})

function missing(): never {
  throw new Error(missingEngine)
}

/** Every combination of what the controls can have. */
function all({ controls }: Step): Values[] {
  return controls.reduce<Values[]>(
    (found, { key, stops }) => found.flatMap((values) => stops.map(({ value }) => ({ ...values, [key]: value }))),
    [{}],
  )
}

interface Case {
  values: Values
  runs: Run[]
  facts: Facts[]
  said: string
}

/** What a sentence claims, and what must be true of the runs then. The first of the runs is what the step is about. */
const CLAIMS: [RegExp, (facts: Facts[]) => boolean][] = [
  [
    /This is incast collapse/,
    ([own]) => own !== undefined && own.waited > 0 && (own.seconds ?? Infinity) > (2 * own.bits) / 1e9,
  ],
  [/and nothing was lost/, (facts) => facts.every(({ lost }) => lost === 0)],
  [/showed every gap/, (facts) => facts.every(({ lost, waited }) => lost > 0 && waited === 0)],
  [/Marks come too late/, ([own]) => own !== undefined && own.lost > 0 && 2 * own.answers < BUFFER_PACKETS],
  [
    /missing after/,
    (facts) => facts.some(({ seconds, complete, answers }) => seconds === undefined && complete < answers),
  ],
]

/** Sentences that name a run: the run is found by its label. */
function checkNamed({ facts, said }: Case): void {
  for (const own of facts) {
    const loses = new RegExp(`^${own.label} loses (nothing|[\\d,]+)`, 'm').exec(said)?.[1]
    if (loses !== undefined) expect(loses === 'nothing' ? 0 : Number(loses.replace(',', ''))).toBe(own.lost)
    const [, what, waits] =
      new RegExp(`^${own.label} loses .*, and (no \\w+|(\\d+) of \\d+ \\w+) waits?`, 'm').exec(said) ?? []
    if (what !== undefined) expect(Number(waits ?? 0)).toBe(own.waited)
  }
  const [, one, size, unit, than] =
    /^([\w-]+) takes ([\d.]+)(?:\u202f%)? (less|more|times)[\w ]* (?:than|as) ([\w-]+)\.$/m.exec(said) ?? []
  const [first, second] = [one, than].map((label) => facts.find((each) => each.label === label)?.seconds)
  if (first === undefined || second === undefined) return
  const ratio = first / second
  const claimed = unit === 'times' ? Number(size) : 1 + ((unit === 'more' ? 1 : -1) * Number(size)) / 100
  expect(Math.abs(ratio - claimed) / Math.max(ratio, 1)).toBeLessThan(unit === 'times' ? 0.06 : 0.0051)
}

describe.skipIf(missingEngine !== undefined)('The engine', { timeout: 300_000 }, async () => {
  // A suite that is skipped is still collected.
  const engine = missingEngine === undefined ? await loadEngine() : { run: missing, topology: missing }
  const runner: Runner = {
    run: ({ toml, overrides }: ScenarioRequest) => Promise.resolve(engine.run(toml, overrides)),
    topology: ({ toml }: ScenarioRequest) => Promise.resolve(engine.topology(toml)),
  }
  const known = new Map<string, Promise<Case[]>>()

  async function casesOf(id: string): Promise<Case[]> {
    const step = steps.find((each) => each.id === id)
    if (!step) throw new Error(`no step ${id}`)
    const make = async (values: Values): Promise<Case> => {
      const runs = await Promise.all(step.contenders(values).map((each) => makeRun(step, each, runner)))
      const facts = runs.map((run) => run.facts)
      return { values, runs, facts, said: step.says(facts, values).join('\n') }
    }
    const found = known.get(id) ?? Promise.all(all(step).map(make))
    known.set(id, found)
    return found
  }

  for (const { id } of steps) {
    test(`says nothing of ${id} that is not so, whatever is set`, async () => {
      for (const found of await casesOf(id)) {
        expect(found.said).toMatch(/\d/)
        expect(found.said).not.toMatch(/NaN|undefined|–/)
        for (const [claim, holds] of CLAIMS)
          if (claim.test(found.said)) expect(holds(found.facts), found.said).toBe(true)
        checkNamed(found)
      }
    })
  }

  test('draws a row for each answer, with what was lost, and those that wait for a timer wait in the picture too', async () => {
    const cases = await casesOf('collapse')
    for (const { runs } of cases) {
      for (const run of runs) {
        const rows = rowsOf(run)
        expect(rows).toHaveLength(run.facts.answers)
        expect(rows.every(({ sent }) => sent.length > 0)).toBe(true)
        expect(rows.reduce((sum, { lost }) => sum + lost.length, 0)).toBe(run.facts.lost)
      }
    }
  })

  const worst = async (id: string, of: (found: Case) => boolean) => (await casesOf(id)).some(of)
  const at = (values: Values) => (found: Case) =>
    Object.entries(values).every(([key, value]) => valueOf(found.values, key) === value)

  test('shows what the first steps ask to look for', async () => {
    const collapse = await casesOf('collapse')
    expect(collapse.filter(({ said }) => said.includes('incast collapse')).length).toBeGreaterThan(3)
    expect(collapse.filter(at({ senders: '8' })).every(({ facts: [own] }) => own?.lost === 0)).toBe(true)
    // "A shorter timer makes a loss cheaper. It does not make room in the queue." "They are sent twice."
    const timer = (await casesOf('timer')).filter(({ facts: [usual] }) => (usual?.waited ?? 0) > 0)
    const shorter = timer.filter((found) => !at({ timer: '200ms' })(found))
    expect(shorter.every(({ facts: [usual, own] }) => (own?.seconds ?? NaN) < (usual?.seconds ?? NaN))).toBe(true)
    expect(shorter.every(({ facts: [, own] }) => own?.queue === BUFFER_PACKETS && own.lost > 0)).toBe(true)
    expect(
      timer.some((found) => at({ timer: '200us' })(found) && found.facts.every(({ lost, again }) => again > lost)),
    ).toBe(true)
    expect(await worst('marks', ({ said }) => said.includes('Marks come too late'))).toBe(true)
    const marks = await casesOf('marks')
    expect(marks.filter(at({ threshold: '20', senders: '24' })).every(({ facts: [own] }) => own?.lost === 0)).toBe(true)
    expect(marks.filter(at({ threshold: '20', senders: '64' })).every(({ facts: [own] }) => (own?.lost ?? 0) > 0)).toBe(
      true,
    )
  })

  test('shows of the papers what their steps ask to look for', async () => {
    const cwa = await casesOf('dt-cwa')
    expect(cwa.filter(at({ acks: '1' })).every(({ facts }) => facts.every(({ waited }) => waited === 0))).toBe(true)
    expect(cwa.filter(at({ acks: '2' })).some(({ facts }) => facts.every(({ waited }) => waited > 0))).toBe(true)
    const few = (await casesOf('pfdct')).filter(at({ senders: '4' }))
    expect(few.every(({ facts: [own, dctcp] }) => (own?.seconds ?? NaN) < (dctcp?.seconds ?? NaN))).toBe(true)
    expect(await worst('pfdct', ({ facts: [own] }) => (own?.lost ?? 0) > 0)).toBe(true)
    const sdtcp = await casesOf('sdtcp')
    expect(sdtcp.some(({ facts: [own, tcp] }) => (own?.longBps ?? NaN) < (tcp?.longBps ?? NaN) / 2)).toBe(true)
    expect(Math.max(...CONTROLLER_LEVELS)).toBeLessThan(BUFFER_PACKETS)
    const rcc = await casesOf('rcc')
    expect(rcc.filter(at({ places: '40' })).every(({ facts: [own] }) => own?.lost === 0)).toBe(true)
    expect(rcc.some((found) => at({ places: '120' })(found) && (found.facts[0]?.lost ?? 0) > 0)).toBe(true)
    const rcce = await casesOf('rcce')
    expect(rcce.every(({ facts: [own] }) => own?.complete === own?.answers)).toBe(true)
    expect(rcce.filter(at({ cable: 'fails' })).some(({ facts: [, one] }) => one?.seconds === undefined)).toBe(true)
  })
})
