import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { decode, encode } from '../src/scenario/address'
import { routeOf } from '../src/scenario/current'
import { loadEngine } from '../src/trace/engine.node'
import { missing, openPage, openSite, type Site } from './browser'

const SCENARIO = `# Servers answer at once.
[network]
topology = "star" # one switch
buffer = "100pkt"

[[traffic]]
name = "servers"
kind = "incast"
senders = 8
bytes-each = "64KB"

[run]
seed = 3
`

const reason = missing()

describe.skipIf(reason !== undefined)('Play', { timeout: 60_000 }, () => {
  let site: Site
  let page: Page
  let complaints: string[]
  beforeAll(async () => {
    site = await openSite()
  }, 60_000)
  afterAll(() => site.close())
  afterEach(async () => {
    expect(complaints).toEqual([])
    await page.close()
  })

  async function open(toml: string, schemes: string[] = ['newreno', 'dctcp']): Promise<void> {
    const hash = `#/play?s=${await encode({ toml, schemes })}`
    ;({ page, complaints } = await openPage(site, hash))
  }

  const goodput = () => page.locator('.totals tbody tr:first-child td:nth-of-type(1)').textContent()
  const text = () => page.locator('.editor textarea').inputValue()

  /** The results that are shown are those of the scenario that is shown. */
  async function settled(): Promise<void> {
    await page.waitForSelector('.play-results[aria-busy=false]')
    await page.waitForFunction(() => /\d/.test(document.querySelector('.totals td')?.textContent ?? ''))
  }

  test('A link shows exactly its scenario and its schemes, and runs it', async () => {
    await open(SCENARIO, ['sdtcp', 'pfdct'])
    await settled()
    await expect.poll(text).toBe(SCENARIO)
    await expect.poll(() => page.locator('.totals thead th').allTextContents()).toEqual(['Total', ' sdtcp', ' pfdct'])
  })

  test('A slider changes the text, the results and the address', async () => {
    await open(SCENARIO)
    await settled()
    const before = await goodput()
    await page.getByRole('slider', { name: 'Senders' }).fill('59')
    await page.waitForFunction((old) => document.querySelector('.totals td')?.textContent !== old, before)
    await expect.poll(text).toBe(SCENARIO.replace('senders = 8', 'senders = 60'))
    await settled()
    const shown = await goodput()
    await expect
      .poll(async () => decode(routeOf(new URL(page.url()).hash).params.get('s') ?? ''))
      .toMatchObject({ toml: await text() })
    const again = await openPage(site, new URL(page.url()).hash)
    await page.close()
    page = again.page
    await settled()
    await expect.poll(goodput).toBe(shown)
    await expect.poll(text).toContain('senders = 60')
  })

  test('The form writes into the text, and follows it', async () => {
    await open(SCENARIO)
    await settled()
    const field = page.locator('[id="field-traffic.servers.senders"]')
    await field.fill('12')
    await field.blur()
    await expect.poll(text).toBe(SCENARIO.replace('senders = 8', 'senders = 12'))
    await page.locator('.editor textarea').fill(SCENARIO.replace('senders = 8', 'senders = 5'))
    await expect.poll(() => field.inputValue()).toBe('5')
    await page.getByPlaceholder('Find a key').fill('rto-min')
    const timer = page.locator('[id="field-transport.rto-min"]')
    await timer.fill('10ms')
    await timer.blur()
    await expect.poll(text).toContain('[transport]\nrto-min = "10ms"\n')
    await page.getByRole('button', { name: 'Take the default of rto-min' }).click()
    await expect.poll(text).not.toContain('rto-min')
  })

  test('What is typed into a field stays while results arrive', async () => {
    await open(SCENARIO)
    await settled()
    const field = page.locator('[id="field-traffic.servers.senders"]')
    await field.fill('12')
    const before = await goodput()
    // Another hand moves the slider: the field keeps the focus.
    await page.getByRole('slider', { name: 'Senders' }).evaluate((slider: HTMLInputElement) => {
      slider.value = '59'
      slider.dispatchEvent(new InputEvent('input', { bubbles: true }))
    })
    await expect.poll(text).toContain('senders = 60')
    await page.waitForFunction((old) => document.querySelector('.totals td')?.textContent !== old, before)
    await settled()
    expect(await field.inputValue()).toBe('12')
    await field.blur()
    await expect.poll(text).toContain('senders = 12')
  })

  test('A scheme that is written into the text is run first', async () => {
    await open(SCENARIO)
    await settled()
    await page.locator('.editor textarea').fill(`${SCENARIO}[transport]\nscheme = "linux"\n`)
    const columns = () => page.locator('.totals thead th').allTextContents()
    await expect.poll(columns).toEqual(['Total', ' linux', ' newreno', ' dctcp'])
  })

  test('A link to more schemes than the page runs is refused', async () => {
    await open(SCENARIO, Array<string>(40).fill('dctcp'))
    await page.getByText('this address asks for 40 schemes').waitFor()
  })

  test('A mistake is shown at its line, with the nearest name', async () => {
    await open(SCENARIO.replace('senders', 'sendrs'))
    await page.waitForSelector('#complaint')
    await expect
      .poll(() => page.locator('#complaint').textContent())
      .toMatch(/Line 9.*traffic\.servers\.sendrs.*did you mean senders/)
    await expect.poll(() => page.locator('.gutter .bad').textContent()).toBe('9')
  })

  test('What is taken away is what is shown', async () => {
    await open(SCENARIO)
    await settled()
    const download = async (name: string) => {
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()])
      return readFileSync(await file.path(), 'utf8')
    }
    expect(await download('Download TOML')).toBe(SCENARIO)
    const totals = JSON.parse(await download('Totals as JSON')) as { scheme: string; goodput_bps: number }[]
    const csv = await download('Totals as CSV')
    expect(totals.map((each) => each.scheme)).toEqual(['newreno', 'dctcp'])
    expect(csv.split('\r\n')[0]).toMatch(/^scheme,/)
    expect(csv.split('\r\n')[1]).toContain(String(totals[0]?.goodput_bps))
  })

  test('A run that is too large is refused before it begins, with its command', async () => {
    await open(SCENARIO.replace('64KB', '4GB'))
    await page.waitForSelector('#complaint')
    await expect
      .poll(() => page.locator('#complaint').textContent())
      .toMatch(/packet hops.*fanin run scenario.toml --set/)
  })

  test('A long run can be cancelled, and the page goes on', async () => {
    await open(SCENARIO.replace('64KB', '200MB'), ['newreno'])
    const cancel = page.getByRole('button', { name: 'Cancel' })
    await cancel.click()
    await page.getByText('Cancelled.').waitFor()
    await page.locator('.editor textarea').fill(SCENARIO)
    await settled()
    await expect.poll(goodput).toMatch(/bit\/s/)
  })

  test('The hash for the terminal is that of the scenario without recording', async () => {
    await open(SCENARIO, ['dctcp'])
    await page.getByText('The same in a terminal').click()
    await page.waitForFunction(() => /[0-9a-f]{32}/.test(document.querySelector('.commands')?.textContent ?? ''))
    const commands = await page.locator('.commands').textContent()
    expect(commands).toContain('--set transport.scheme=dctcp')
    const { summary } = (await loadEngine()).run(SCENARIO, [['transport.scheme', 'dctcp']])
    expect(commands).toContain(summary.result_hash)
  })
})
