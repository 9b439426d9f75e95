/** A report opened from a disk, as `fanin report` writes it of a small results folder, whose texts are hostile. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { barriers, chromiumPath, missing, THEMES, WIDTHS } from './browser'

const python = process.env.PYTHON ?? resolve('../.venv/bin/python')
const env = { ...process.env, PYTHONPATH: resolve('../python') }

function reasonNot(): string | undefined {
  if (!existsSync('dist/report/report.js')) return 'the report is not built: npm run build'
  if (!existsSync(python)) return 'fanin is not installed in .venv: make'
  return undefined
}

const reason = missing() ?? reasonNot()
if (reason !== undefined) console.warn(`skipped: ${reason}`)

const SCRIPT = '</script><img src=https://example.com/x.png onerror=alert(1)><script>alert(1)</script><!--'

/** Two lines, a figure without lines, and a sentence that holds and one that does not. */
const EXPERIMENT = `title = ${JSON.stringify(SCRIPT)}
description = ${JSON.stringify(`# Heading\n\n${SCRIPT} [out](javascript:alert(1)) [web](https://example.com/a)`)}
paper = "mine"
figure = "Fig. 1"

[network]
topology = "two-switch"
rate = "1Gbps"
delay = "33us"
buffer = "20pkt"

[[traffic]]
name = "bursts"
kind = "incast"
senders = 8
bytes-each = "16KB"

[run]
duration = "1s"

[sweep]
"transport.scheme" = ["newreno", "dctcp"]
"traffic.bursts.senders" = [2, 8]
seeds = "1..2"

[[plot]]
x = "flows"
y = "goodput_bps"
by = "transport.scheme"
title = ${JSON.stringify(SCRIPT)}
note = ${JSON.stringify(SCRIPT)}
published = [{ x = 4, label = "a place" }, { x = 4, y = 5e8, label = "a point" }]

[[plot]]
kind = "topology"
id = "network"
title = "The network"

[[claim]]
id = "holds"
says = "Something arrives."
measure = "max"
x = "flows"
y = "goodput_bps"
accept = [1.0, 1e10]
why = "more than nothing"

[[claim]]
id = "fails"
says = ${JSON.stringify(`Nothing arrives. ${SCRIPT}`)}
measure = "max"
x = "flows"
y = "goodput_bps"
where = { "transport.scheme" = "dctcp" }
accept = [0.0, 1.0]
why = ${JSON.stringify(SCRIPT)}
`

/** An experiment of no paper and without sentences. */
const PLAIN = `[network]
topology = "star"
[[traffic]]
kind = "incast"
senders = 2
bytes-each = "16KB"
[sweep]
seeds = [1, 2]
[[plot]]
x = "flows"
y = "goodput_bps"
`

describe.skipIf(reason !== undefined)('a report', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fanin-report-'))
  let browser: Browser

  function run(...words: string[]): void {
    const ran = spawnSync(python, ['-m', 'fanin', ...words], { cwd: folder, env, encoding: 'utf8' })
    if (ran.status !== 0) throw new Error(ran.stderr)
  }

  beforeAll(async () => {
    mkdirSync(join(folder, 'experiments/mine'), { recursive: true })
    writeFileSync(join(folder, 'experiments/mine/fig1.toml'), EXPERIMENT)
    writeFileSync(join(folder, 'experiments/own.toml'), PLAIN)
    run('reproduce', 'mine/fig1', 'own', '--jobs', '1')
    run('reproduce', 'own', '--jobs', '1', '--out', 'alone')
    browser = await chromium.launch({
      ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
      args: ['--headless=new', '--no-sandbox'],
    })
  }, 240_000)

  afterAll(async () => {
    // What failed before may have left none.
    await (browser as Browser | undefined)?.close()
    rmSync(folder, { recursive: true })
  })

  /** Opens the report from the disk; whatever it asks for, beyond its data, is a complaint. */
  async function opened(hash = '', width = 1024, colorScheme: (typeof THEMES)[number] = 'light', out = 'results') {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, acceptDownloads: true })
    const page = await context.newPage()
    const complaints: string[] = []
    const report = pathToFileURL(join(folder, out, 'report')).href
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('dialog', (dialog) => {
      complaints.push(`a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${report}/index.html`) && !url.startsWith('data:') && !url.startsWith('blob:'))
        complaints.push(url)
    })
    await page.goto(`${report}/index.html${hash}`)
    await page.waitForSelector('h1')
    return { page, complaints, close: () => context.close() }
  }

  const status = (page: Page) => page.locator('.papers [role=status]').first().textContent()

  test('its sentences are filtered, and each has its figure', { timeout: 60_000 }, async () => {
    const { page, complaints, close } = await opened()
    // What was not run is not in the way.
    await expect.poll(() => page.locator('.papers-item').count()).toBe(2)
    await page.getByRole('search').getByLabel('Verdict').selectOption('not run')
    await expect.poll(() => page.locator('.papers-item').count()).toBeGreaterThan(2)
    await page.getByRole('search').getByLabel('Verdict').selectOption('')
    await page.getByRole('search').getByLabel('Paper').selectOption('mine')
    await expect.poll(() => status(page)).toMatch(/^2 of \d+ sentences$/)
    await page.getByRole('search').getByLabel('Verdict').selectOption('not found')
    await expect.poll(() => status(page)).toMatch(/^1 of \d+ sentences$/)
    await page.locator('.papers-item').click()
    await page.waitForSelector('.papers-sentence canvas')
    await expect.poll(() => page.locator('.papers-sentence h2').textContent()).toContain(SCRIPT)
    await expect.poll(() => page.locator('.papers-sentence').textContent()).toContain('fanin reproduce mine/fig1')
    await page.getByText('Data of this figure').click()
    const data = page.getByRole('region', { name: /^Data of/ })
    await expect.poll(() => data.locator('th').allTextContents()).toEqual(expect.arrayContaining(['newreno', 'dctcp']))
    await expect.poll(() => data.locator('tbody tr').count()).toBe(2)
    // The place of another sentence is in the address.
    const other = await opened('#/papers?id=mine/fig1/holds')
    await expect.poll(() => other.page.locator('.papers-sentence h2').textContent()).toBe('Something arrives.')
    expect([...complaints, ...other.complaints]).toEqual([])
    await close()
    await other.close()
  })

  test('a scenario is downloaded, and its command runs it', { timeout: 60_000 }, async () => {
    const { page, complaints, close } = await opened('#/papers?id=mine/fig1/fails')
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the scenario' }).click()
    const download = await saved
    expect(download.suggestedFilename()).toBe('mine-fig1-fails.toml')
    expect(readFileSync(await download.path(), 'utf8')).toContain('two-switch')
    await download.saveAs(join(folder, download.suggestedFilename()))
    const [command] = await page.locator('.papers-command code').allTextContents()
    expect(command).toBe('fanin run mine-fig1-fails.toml')
    run('run', 'mine-fig1-fails.toml', '--no-store')
    expect(await page.getByRole('button', { name: 'Open this in Play' }).count()).toBe(0)
    expect(complaints).toEqual([])
    await close()
  })

  test('experiments have figures, facts, and texts that are nothing but text', { timeout: 60_000 }, async () => {
    const { page, complaints, close } = await opened('#/papers?tab=experiments&experiment=mine/fig1')
    await page.waitForSelector('.papers-sentence canvas')
    await expect.poll(() => page.locator('.prose').textContent()).toContain(SCRIPT)
    const links = page.locator('.prose a')
    await expect
      .poll(() => links.evaluateAll((all) => all.map((each) => each.getAttribute('href'))))
      .toEqual(['https://example.com/a'])
    await expect.poll(() => page.locator('.papers-facts').textContent()).toContain('8 of 8')
    await page.getByRole('combobox', { name: 'Figure' }).selectOption({ label: 'The network' })
    await page.getByText('Data of this figure').click()
    await page.getByRole('region', { name: 'Data of The network' }).getByRole('cell').first().waitFor()
    for (const name of ['All data as CSV', "The experiment's file"]) {
      const href = await page.getByRole('link', { name }).getAttribute('href')
      expect(existsSync(join(folder, 'results/report', href ?? '')), name).toBe(true)
    }
    expect(complaints).toEqual([])
    await close()
  })

  test('a figure is taken away as the page draws it', { timeout: 60_000 }, async () => {
    const { page, complaints, close } = await opened('#/papers?tab=experiments&experiment=mine/fig1', 1024, 'dark')
    await page.waitForSelector('.papers-sentence canvas')
    const taken = async (kind: string) => {
      const saved = page.waitForEvent('download')
      await page.getByRole('button', { name: `${SCRIPT} as ${kind}` }).click()
      const file = await saved
      expect(file.suggestedFilename()).toBe(`goodput-bps.${kind.toLowerCase()}`)
      return readFileSync(await file.path())
    }
    const svg = (await taken('SVG')).toString()
    expect(svg).toMatch(/^<svg[^]*dctcp[^]*paper: a point[^]*paper: a place[^]*<\/svg>/)
    expect(svg).toContain('&lt;script&gt;alert(1)')
    expect(svg).not.toMatch(/<script|<img|onerror=alert\(1\)>/)
    expect((await taken('PNG')).subarray(1, 4).toString()).toBe('PNG')
    // Nothing that a browser would run lies beside the page.
    const beside = readdirSync(join(folder, 'results/report'), { recursive: true, encoding: 'utf8' })
    expect(beside.filter((name) => /\.\w+$/.test(name) && !/\.(csv|toml)$/.test(name))).toEqual(['index.html'])
    expect(complaints).toEqual([])
    await close()
  })

  test('where no sentence was judged it shows the experiments', { timeout: 60_000 }, async () => {
    // The sentences of the shipped experiments were not run.
    const { page, complaints, close } = await opened('', 1024, 'light', 'alone')
    await page.locator('.papers-item').click()
    await page.waitForSelector('.papers-sentence canvas')
    const tabs = () => page.getByRole('group', { name: 'Show' }).getByRole('button').allTextContents()
    await expect.poll(tabs).toEqual(['Experiments', 'About'])
    expect(complaints).toEqual([])
    await close()
  })

  for (const theme of THEMES) {
    test(`it fits every width, ${theme}, and everybody can use it`, { timeout: 120_000 }, async () => {
      const tabs = {
        sentence: ['#/papers?id=mine/fig1/fails', '.papers-sentence canvas'],
        experiment: ['#/papers?tab=experiments&experiment=mine/fig1', '.papers-sentence canvas'],
        about: ['#/papers?tab=about', '.papers-matrix'],
      } as const
      for (const [name, [hash, wanted]] of Object.entries(tabs)) {
        const { page, complaints, close } = await opened(hash, WIDTHS[0], theme)
        await page.waitForSelector(wanted)
        expect(await barriers(page), name).toEqual([])
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 })
          const beyond = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          await expect.poll(beyond, { message: `${name}, ${width} pixels` }).toBeLessThanOrEqual(0)
        }
        expect(complaints).toEqual([])
        await close()
      }
    })
  }

  test('the theme is changed by hand', { timeout: 60_000 }, async () => {
    const { page, complaints, close } = await opened()
    await page.getByRole('button', { name: 'Switch to the dark theme' }).click()
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
    expect(complaints).toEqual([])
    await close()
  })
})
