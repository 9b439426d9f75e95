/** Serves the built page and opens it in the system's Chromium. */

import { existsSync } from 'node:fs'
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
  await page.goto(site.url + hash)
  return { page, complaints }
}
