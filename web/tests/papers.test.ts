import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missing, openPage, openSite, THEMES, WIDTHS, type Site } from './browser'

const reason = missing()
if (reason !== undefined) console.warn(`skipped: ${reason}`)

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Serious findings of axe. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    interface Axe {
      run: () => Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>
    }
    const { violations } = await (window as unknown as { axe: Axe }).axe.run()
    return violations
      .filter((each) => ['serious', 'critical'].includes(each.impact))
      .flatMap((each) => each.nodes.map((node) => `${each.id}: ${node.html}`))
  })
}

const SENTENCE = '#/papers?id=sdtcp/fig9/dctcp-collapse'

describe.skipIf(reason !== undefined)('Papers', () => {
  let site: Site
  beforeAll(async () => {
    site = await openSite()
  }, 60_000)
  afterAll(() => site.close())

  for (const width of WIDTHS) {
    for (const theme of THEMES) {
      test(
        `a sentence with its figure, and the ranking, at ${width} pixels, ${theme}`,
        { timeout: 90_000 },
        async () => {
          for (const [hash, wanted] of [
            [SENTENCE, '.papers-sentence canvas'],
            ['#/papers?tab=ranking', '.papers-heat td'],
          ] as const) {
            const { page, complaints } = await openPage(site, hash, width, theme)
            await page.waitForSelector(wanted)
            const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
            expect(overflow).toBeLessThanOrEqual(0)
            expect(await findings(page)).toEqual([])
            expect(complaints).toEqual([])
            if (process.env.SCREENSHOTS) {
              const name = `${process.env.SCREENSHOTS}/papers-${wanted.slice(8, 12)}-${width}-${theme}.png`
              await page.screenshot({ path: name, fullPage: true })
            }
            await page.close()
          }
        },
      )
    }
  }

  test('a filter is in the address and comes back from it', { timeout: 60_000 }, async () => {
    const { page } = await openPage(site, '#/papers')
    await page.getByRole('search').getByLabel('Paper').selectOption('sdtcp')
    await page.getByLabel('Verdict').selectOption('not found')
    await page.getByRole('searchbox').fill('goodput')
    await expect.poll(() => page.url()).toContain('goodput')
    const status = () => page.locator('.papers [role=status]').textContent()
    await expect.poll(status).toMatch(/^\d+ of \d+ sentences$/)
    const items = () => page.locator('.papers-item').allTextContents()
    await expect.poll(async () => (await items()).length - parseInt((await status()) ?? '')).toBe(0)
    const count = await status()
    await page.locator('.papers-item').first().click()
    await page.waitForSelector('.papers-sentence h2:focus')
    const chosen = await page.locator('.papers-sentence h2').textContent()
    const address = page.url()
    await page.close()
    const again = await openPage(site, address.slice(address.indexOf('#')))
    await again.page.waitForSelector('.papers-sentence h2')
    await expect.poll(() => again.page.locator('.papers-sentence h2').textContent()).toBe(chosen)
    await expect.poll(() => again.page.locator('.papers [role=status]').textContent()).toBe(count)
    await again.page.close()
  })

  test('a sentence opens in Play and runs there', { timeout: 60_000 }, async () => {
    const { page, complaints } = await openPage(site, SENTENCE)
    await page.getByRole('button', { name: 'Open this in Play' }).click()
    await page.waitForFunction(() => location.hash.startsWith('#/play'))
    await page.waitForFunction(() => document.body.textContent.includes('hash'), undefined, { timeout: 30_000 })
    expect(complaints).toEqual([])
    await page.close()
  })

  test('the ranking is walked with the keyboard', { timeout: 60_000 }, async () => {
    const { page } = await openPage(site, '#/papers?tab=ranking')
    await page.locator('.papers-heat td[tabindex="0"]').focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-at'))).toBe('1,1')
    const cell = () => page.locator('.papers [role=status]').textContent()
    await expect.poll(cell).toMatch(/buffer .*answer .*senders .*% of the best/)
    await page.close()
  })
})
