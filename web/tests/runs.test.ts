/** The view of stored runs, as `fanin serve` serves it from a real results folder. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { barriers, chromiumPath, missing, THEMES, WIDTHS } from './browser'

const python = process.env.PYTHON ?? resolve('../.venv/bin/python')
const env = { ...process.env, PYTHONPATH: resolve('../python') }

function withoutServer(): string | undefined {
  if (!existsSync(python)) return 'fanin is not installed in .venv: make'
  const found = spawnSync(python, ['-c', 'import fanin.serve.server'], { env })
  return found.status === 0 ? undefined : 'Starlette or Uvicorn is not installed in .venv'
}

const reason = missing() ?? withoutServer()
if (reason !== undefined) console.warn(`skipped: ${reason}`)

const SCENARIO = `[network]
topology = "two-switch"
rate = "1Gbps"
delay = "33us"
buffer = "20pkt"
[[traffic]]
kind = "incast"
senders = 8
bytes-each = "64KB"
[run]
duration = "1s"
`

const SCRIPT = '<img src=x onerror=alert(1)><script>alert(1)</script>'

/** Writes a script into texts of the run with captured packets, with a digest that matches. */
const HOSTILE = `
import json, sys
from fanin.results.store import Store, sealed
with Store("results").database.transaction() as connection:
    sql = "SELECT runs.* FROM runs JOIN tables ON run = id WHERE name = 'capture'"
    row = dict(connection.execute(sql).fetchone())
    row |= {"experiment": sys.argv[1], "made": json.dumps(json.loads(row["made"]) | {"host": sys.argv[1]})}
    values = [row["experiment"], row["made"], sealed(row), row["id"]]
    connection.execute("UPDATE runs SET experiment = ?, made = ?, sha256 = ? WHERE id = ?", values)
`

interface About {
  address: string
  port: number
  token: string
}

describe.skipIf(reason !== undefined)('stored runs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fanin-runs-'))
  let server: ChildProcess
  let about: About
  let browser: Browser

  function run(...words: string[]): void {
    const ran = spawnSync(python, words, { cwd: folder, env, encoding: 'utf8' })
    if (ran.status !== 0) throw new Error(ran.stderr)
  }

  async function started(): Promise<About> {
    const words = ['-m', 'fanin', 'serve', '--no-browser', '--json']
    server = spawn(python, words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    for await (const piece of server.stdout ?? []) {
      text += String(piece)
      if (text.endsWith('}\n')) break
    }
    return JSON.parse(text) as About
  }

  beforeAll(async () => {
    writeFileSync(join(folder, 's.toml'), SCENARIO)
    const traces = ['probes=cwnd', 'queue-trace=on-change', 'crossings=all', 'queues=all', 'capture=bottleneck']
    run('-m', 'fanin', 'run', 's.toml', ...traces.flatMap((each) => ['--set', `measure.${each}`]))
    run('-m', 'fanin', 'sweep', 's.toml', '--seeds', '1..60', '--jobs', '1', '--set', 'transport.scheme=newreno')
    run('-c', HOSTILE, SCRIPT)
    about = await started()
    browser = await chromium.launch({
      ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
      args: ['--headless=new', '--no-sandbox'],
    })
  }, 120_000)

  afterAll(async () => {
    // What failed before may have left none of them.
    await (browser as Browser | undefined)?.close()
    ;(server as ChildProcess | undefined)?.kill()
    rmSync(folder, { recursive: true })
  })

  async function opened(width = 1024, colorScheme: (typeof THEMES)[number] = 'light') {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, acceptDownloads: true })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`)
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('dialog', (dialog) => {
      complaints.push(`a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    await page.goto(about.address)
    await page.waitForSelector('table.runs')
    return { page, complaints, close: () => context.close() }
  }

  const count = (page: Page) => page.locator('[aria-live=polite]').first().textContent()

  /** Opens the run with traces: by its name, as it may be the oldest and so beyond the first part of the list. */
  async function traced(page: Page): Promise<string> {
    await page.getByLabel('Search').fill('onerror')
    await expect.poll(() => count(page)).toContain('1 of 61 runs')
    await page.locator('tr', { hasText: 'packets' }).locator('a').click()
    await page.waitForSelector('h2')
    return (await page.locator('h1 code').textContent()) ?? ''
  }

  test('the token leaves the address, and links open in other tabs', { timeout: 60_000 }, async () => {
    const { page, complaints, close } = await opened()
    expect(page.url()).not.toContain(about.token)
    const id = await traced(page)
    expect(page.url()).toContain(`#/runs?run=${id}`)
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.waitForSelector('h2')
    await expect.poll(() => other.locator('h1 code').textContent()).toBe(id)
    expect(complaints).toEqual([])
    await close()
  })

  test('search, order and parts of the list', { timeout: 60_000 }, async () => {
    const { page, complaints, close } = await opened()
    await expect.poll(() => count(page)).toContain('61 of 61 runs')
    await expect.poll(() => page.locator('table.runs tbody tr').count()).toBe(50)
    await page.getByRole('button', { name: 'Later' }).click()
    await page.getByText('51 to 61 of 61').waitFor()
    await expect.poll(() => page.locator('table.runs tbody tr').count()).toBe(11)
    await page.getByRole('button', { name: 'Seed' }).click()
    await page.locator('th[aria-sort=descending]', { hasText: 'Seed' }).waitFor()
    await page.locator('table.runs tbody tr').first().getByText('60').first().waitFor()
    await page.getByLabel('Search').fill('no-such-words')
    await page.getByText('0 of 61 runs').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('a run has totals, tables, downloads and its scenario', { timeout: 60_000 }, async () => {
    const { page, complaints, close } = await opened()
    const id = await traced(page)
    await page.getByText('Goodput of all flows').first().waitFor()
    await expect.poll(() => page.locator('.facts').textContent()).toContain(SCRIPT)
    await page.getByRole('combobox').selectOption('flows')
    await page.getByRole('region', { name: /8 rows/ }).waitFor()
    for (const [button, format] of [
      ['Parquet', 'parquet'],
      ['Packets as pcapng', 'pcapng'],
    ] as const) {
      const file = join(folder, `exported.${format}`)
      run('-m', 'fanin', 'export', `results/${id}`, '--to', format, '--out', file)
      const saved = page.waitForEvent('download')
      await page.getByRole('button', { name: button }).click()
      const path = await (await saved).path()
      expect(readFileSync(path)).toEqual(readFileSync(file))
    }
    expect(complaints).toEqual([])
    await page.getByRole('button', { name: 'Open in Play' }).click()
    await page.waitForURL(/#\/play/)
    await page.getByText('8', { exact: true }).first().waitFor({ state: 'attached' })
    await expect.poll(() => page.locator('textarea').first().inputValue()).toContain('senders = 8')
    await close()
  })

  test('traces are drawn by the other views', { timeout: 60_000 }, async () => {
    const { page, complaints, close } = await opened()
    await traced(page)
    // Its two switches and its eight flows, and not the scenario that the other views look at.
    const drawn = {
      Watch: page.getByRole('img', { name: /^The network: \d+ hosts and 2 switches/ }),
      Lanes: page.getByRole('listbox', { name: 'Lanes of 8 flows' }),
    }
    for (const [view, picture] of Object.entries(drawn)) {
      await page.getByRole('button', { name: `Show in ${view}` }).click()
      await page.getByRole('region', { name: 'Traces' }).getByRole('heading', { name: view }).first().waitFor()
      await picture.waitFor()
      await page.getByRole('button', { name: `Close ${view}` }).click()
    }
    expect(complaints).toEqual([])
    await close()
  })

  for (const theme of THEMES) {
    test(`list and run fit every width, ${theme}, and everybody can use them`, { timeout: 120_000 }, async () => {
      const { page, complaints, close } = await opened(WIDTHS[0], theme)
      const fits = async (what: string) => {
        expect(await barriers(page), what).toEqual([])
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 })
          const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          expect(beyond, `${what}, ${width} pixels`).toBeLessThanOrEqual(0)
          await shot(page, `${what}-${width}-${theme}`)
        }
      }
      await fits('list')
      await traced(page)
      await page.getByRole('region', { name: /rows/ }).waitFor()
      await fits('run')
      expect(complaints).toEqual([])
      await close()
    })
  }

  test('without the token there is only how to get it', { timeout: 60_000 }, async () => {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${about.port}/#/runs`)
    await page.getByText('fanin serve --out results').waitFor()
    await page.evaluate(() => {
      localStorage.setItem('fanin-token', 'of-yesterday')
    })
    await page.reload()
    await page.getByText('open the address that fanin serve has printed').waitFor()
    await page.close()
  })
})

/** For whoever looks at them: SHOTS names a folder. */
async function shot(page: Page, name: string): Promise<void> {
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `runs-${name}.png`) })
}
