import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { views } from '../src/ui/views'
import { barriers, missing, openPage, openSite, THEMES, WIDTHS, type Site } from './browser'

const reason = missing()
if (reason !== undefined) console.warn(`skipped: ${reason}`)

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
        // What web.dev calls good: nothing that one looks at moves away.
        expect(await page.evaluate(() => window.shifted ?? 0)).toBeLessThan(0.1)
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 })
          const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          expect(beyond, `${width} pixels`).toBeLessThanOrEqual(0)
        }
        expect(await barriers(page)).toEqual([])
        expect(complaints).toEqual([])
        await page.close()
      })
    }
  }
})
