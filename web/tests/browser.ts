/** Serves the built page and opens it in the system's Chromium. */

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Browser, type Page } from 'playwright-core'
import { preview, type PreviewServer } from 'vite'

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

export const chromiumPath = process.env.CHROMIUM ?? BROWSERS.find((path) => existsSync(path))

/** Why tests of the page cannot run here; none if they can. */
export function missing(): string | undefined {
  if (chromiumPath === undefined) return 'no Chromium is installed'
  if (!existsSync('dist/index.html')) return 'the page is not built: npm run build'
  if (!existsSync('dist/fanin.wasm')) return 'the engine is not built: make page'
  return undefined
}

export const WIDTHS = [390, 1024, 1920]
export const THEMES = ['light', 'dark'] as const

declare global {
  interface Window {
    /** How much of the page has moved without being asked to: cumulative layout shift. */
    shifted?: number
  }
}

export interface Site {
  url: string
  browser: Browser
  close: () => Promise<void>
}

export async function openSite(): Promise<Site> {
  const server: PreviewServer = await preview({ preview: { port: 0, host: '127.0.0.1' } })
  const browser = await chromium.launch({
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    args: ['--headless=new', '--no-sandbox'],
  })
  const close = async () => {
    await browser.close()
    await server.close()
  }
  return { url: server.resolvedUrls?.local[0] ?? '', browser, close }
}

/** A page of some width and theme, and what its console complained of. */
export async function openPage(
  site: Site,
  hash: string,
  width = 1024,
  theme: (typeof THEMES)[number] = 'light',
): Promise<{ page: Page; complaints: string[] }> {
  const page = await site.browser.newPage({ viewport: { width, height: 900 }, colorScheme: theme })
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.addInitScript(() => {
    new PerformanceObserver((list) => {
      const moved = list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[]
      window.shifted = moved.reduce((sum, each) => sum + (each.hadRecentInput ? 0 : each.value), window.shifted ?? 0)
    }).observe({ type: 'layout-shift', buffered: true })
  })
  await page.goto(site.url + hash)
  return { page, complaints }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Finding {
  id: string
  impact: string
  nodes: { html: string }[]
}

/** What axe finds that keeps somebody from using the page, with its first place. */
export async function barriers(page: Page): Promise<[string, string | undefined][]> {
  // The page's policy forbids strange scripts in it; what the test evaluates is not bound by it.
  await page.evaluate(axe)
  const found = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run: () => Promise<{ violations: Finding[] }> } }).axe.run(),
  )
  const serious = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  return serious.map(({ id, nodes }) => [id, nodes[0]?.html])
}
