import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { views } from '../src/ui/views'
import { missing, openPage, openSite, THEMES, WIDTHS, type Site } from './browser'

const reason = missing()
if (reason !== undefined) console.warn(`skipped: ${reason}`)

describe.skipIf(reason !== undefined)('every view', () => {
  let site: Site
  beforeAll(async () => {
    site = await openSite()
  }, 60_000)
  afterAll(() => site.close())

  for (const { path } of views) {
    for (const width of WIDTHS) {
      for (const theme of THEMES) {
        test(`${path} opens at ${width} pixels, ${theme}`, { timeout: 30_000 }, async () => {
          const { page, complaints } = await openPage(site, `#/${path}`, width, theme)
          await page.waitForSelector('main h1')
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          expect(overflow).toBeLessThanOrEqual(0)
          expect(complaints).toEqual([])
          await page.close()
        })
      }
    }
  }
})
