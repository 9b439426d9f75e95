import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { barriers, missing, openPage, openSite, THEMES, WIDTHS, type Site } from './browser'

const reason = missing()
const WAIT = { timeout: 30_000 }

describe.skipIf(reason !== undefined)('Lanes', { timeout: 120_000 }, () => {
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

  const lanes = () => page.getByRole('listbox', { name: /^Lanes of/ })
  const words = () => page.locator('.lanes-words').innerText()
  const chosen = () => page.locator('.lanes-picture [aria-selected=true]').textContent()
  const heading = () => page.locator('.lanes-detail h2').textContent()
  const drawn = () => page.locator('.lanes-detail .chart-title').allTextContents()
  const address = () => new URLSearchParams(new URL(page.url()).hash.split('?')[1])
  /** How many pixels of the lanes have a colour. */
  const painted = () =>
    page
      .locator('.lanes-picture canvas')
      .first()
      .evaluate((canvas: HTMLCanvasElement) => {
        const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] }
        return data.filter((value, index) => index % 4 === 3 && value > 0).length
      })

  test('The lanes of a collapse can be sorted, chosen with keys and pointer, enlarged and linked to', async () => {
    ;({ page, complaints } = await openPage(site, '#/lanes'))
    await expect.poll(words, WAIT).toMatch(/^[1-9]\d* of 240 flows waited in a timeout\. /)
    await expect.poll(painted, WAIT).toBeGreaterThan(1000)
    await expect
      .poll(drawn, WAIT)
      .toEqual(['Windows and bytes in flight', 'Round trip, smoothed', 'Alpha', 'Queue at the bottleneck'])
    await expect.poll(() => page.locator('.lanes-missing').innerText(), WAIT).toContain('alpha: newreno has none')

    await page.getByLabel('Sort by').selectOption('number')
    await lanes().focus()
    await page.keyboard.press('Home')
    await expect.poll(chosen, WAIT).toMatch(/^Flow 0 of /)
    await page.keyboard.press('ArrowDown')
    await expect.poll(chosen, WAIT).toMatch(/^Flow 1 of /)
    await expect.poll(heading, WAIT).toBe(await chosen())
    await page.keyboard.press('+')
    await expect.poll(() => address().has('from'), WAIT).toBe(true)

    const box = await lanes().boundingBox()
    if (!box) throw new Error('no lanes')
    await lanes().click({ position: { x: box.width / 2, y: box.height - 30 } })
    await expect.poll(chosen, WAIT).toMatch(/^Flow 23\d of /)
    await expect.poll(() => page.locator('.lanes-detail .legend .at').first().textContent(), WAIT).toMatch(/s$/)

    await page.getByLabel('Scheme').selectOption('dctcp')
    await expect.poll(() => page.locator('.lanes-missing').innerText(), WAIT).not.toContain('alpha')
    const before = [await words(), await chosen(), address().get('from')]
    await page.reload()
    await expect.poll(async () => [await words(), await chosen(), address().get('from')], WAIT).toEqual(before)
    await expect.poll(() => page.getByLabel('Sort by').inputValue(), WAIT).toBe('number')
    await expect.poll(() => page.getByLabel('Scheme').inputValue(), WAIT).toBe('dctcp')
  })

  for (const theme of THEMES) {
    test(`What is drawn fits every width, ${theme}, and everybody can use it`, async () => {
      ;({ page, complaints } = await openPage(site, '#/lanes', WIDTHS[0], theme))
      await expect.poll(words, WAIT).toContain('waited in a timeout')
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 })
        const beyond = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        await expect.poll(beyond, { ...WAIT, message: `${width} pixels` }).toBeLessThanOrEqual(0)
      }
      expect(await barriers(page)).toEqual([])
    })
  }
})
