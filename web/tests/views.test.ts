import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { views } from '../src/ui/views'
import { missing, openPage, openSite, THEMES, WIDTHS, type Site } from './browser'

const reason = missing()
if (reason !== undefined) console.warn(`skipped: ${reason}`)

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Finding {
  id: string
  impact: string
  nodes: { html: string }[]
}

describe.skipIf(reason !== undefined)('every view', () => {
  let site: Site
  beforeAll(async () => {
    site = await openSite()
  }, 60_000)
  afterAll(() => site.close())

  for (const { path } of views) {
    for (const theme of THEMES) {
      test(`${path} opens at every width, ${theme}, and everybody can use it`, { timeout: 60_000 }, async () => {
        const { page, complaints } = await openPage(site, `#/${path}`, WIDTHS[0], theme)
        await page.waitForSelector('main h1')
        // What is computed is looked at too.
        await page.waitForSelector('[aria-busy=true]', { state: 'detached' })
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 })
          const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          expect(beyond, `${width} pixels`).toBeLessThanOrEqual(0)
        }
        // The page's policy forbids strange scripts in it; what the test evaluates is not bound by it.
        await page.evaluate(axe)
        const found = await page.evaluate(() =>
          (globalThis as unknown as { axe: { run: () => Promise<{ violations: Finding[] }> } }).axe.run(),
        )
        const serious = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        expect(serious.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([])
        expect(complaints).toEqual([])
        await page.close()
      })
    }
  }
})
