/** Draws the README's pictures of the page: `make screenshots`. Named as a test because vitest runs it. */

import { mkdirSync, writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { missing, openPage, openSite, type Site } from '../tests/browser'

const FOLDER = '../docs/pictures'

/** What is done in a view before its picture is taken. */
const VIEWS: Record<string, (page: Page) => Promise<void>> = {
  learn: () => Promise.resolve(),
  watch: () => Promise.resolve(),
  lanes: () => Promise.resolve(),
  compare: async (page) => {
    await page.getByRole('button', { name: /^Run \d+/ }).click()
    await page.getByText('Done: 160 of 160').waitFor()
  },
}

/** What is seen of a page, as WebP, which is half of a PNG. */
async function draw(page: Page, file: string): Promise<void> {
  const browser = await page.context().newCDPSession(page)
  const { data } = await browser.send('Page.captureScreenshot', { format: 'webp', quality: 85 })
  writeFileSync(file, data, 'base64')
}

let site: Site
beforeAll(async () => {
  expect(missing()).toBeUndefined()
  mkdirSync(FOLDER, { recursive: true })
  site = await openSite()
}, 60_000)
afterAll(() => site.close())

test.each(Object.entries(VIEWS))('%s', { timeout: 60_000 }, async (view, act) => {
  const { page, complaints } = await openPage(site, `#/${view}`, 1280)
  await page.waitForFunction(() => document.querySelector('main [aria-busy=true]') === null)
  await act(page)
  // What is drawn follows a frame or two after what is known.
  await page.waitForTimeout(3_000)
  await draw(page, `${FOLDER}/page-${view}.webp`)
  expect(complaints).toEqual([])
  await page.close()
})
