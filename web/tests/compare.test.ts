import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { missing, openPage, openSite, type Site } from './browser'

const reason = missing()

describe.skipIf(reason !== undefined)('Compare', { timeout: 60_000 }, () => {
  let site: Site
  let page: Page
  let complaints: string[]
  beforeAll(async () => {
    site = await openSite()
  }, 60_000)
  afterAll(() => site.close())
  beforeEach(async () => {
    ;({ page, complaints } = await openPage(site, '#/compare'))
    await page.waitForSelector('.axis textarea')
  })
  afterEach(async () => {
    expect(complaints).toEqual([])
    await page.close()
  })

  const status = () => page.locator('.go [role=status]')
  const run = () => page.getByRole('button', { name: /^Run/ }).click()
  const download = async (name: string) => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name }).first().click(),
    ])
    return readFileSync(await file.path())
  }

  test('A sweep has a run for each scheme, value and seed, and its figures can be taken away', async () => {
    await page.getByLabel('Values').fill('2, 4')
    await page.getByLabel('Seeds').fill('3')
    await run()
    await page.getByText('Done: 12 of 12').waitFor()
    const rows = (await download('All runs as CSV')).toString().trimEnd().split('\r\n')
    expect(rows.length).toBe(13)
    expect(rows[0]).toMatch(/^transport\.scheme,traffic\.servers\.senders,seed,/)
    expect((await download('Goodput against senders as SVG')).toString()).toMatch(/^<svg[^]*dctcp[^]*<\/svg>/)
    expect((await download('Goodput against senders as PNG')).subarray(1, 4).toString()).toBe('PNG')
  })

  test('A sweep can be cancelled at once, and keeps what it has', async () => {
    await page.getByLabel('Seeds').fill('30')
    await run()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await expect.poll(() => status().textContent()).toMatch(/^Cancelled after \d+ of \d+$/)
    const before = await status().textContent()
    await page.waitForTimeout(500)
    expect(await status().textContent()).toBe(before)
  })

  test('What a scheme costs the background is shown once there is some', async () => {
    await page.getByLabel('Values').fill('2')
    await page.getByLabel('Seeds').fill('1')
    await run()
    await page.getByRole('button', { name: 'Add two long flows' }).click()
    await page.getByText('The figures show what was chosen before.').waitFor()
    await run()
    await page.getByText('Goodput that is left to background against senders').waitFor()
  })
})
