/** Draws the README's pictures of the page: `make screenshots`. Named as a test because vitest runs it. */

import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { missing, openPage, openSite, type Site } from '../tests/browser'

const FOLDER = '../docs/pictures'

const VIEWS = ['play', 'watch', 'lanes', 'compare', 'papers', 'learn'] as const

let site: Site
beforeAll(async () => {
  expect(missing()).toBeUndefined()
  mkdirSync(FOLDER, { recursive: true })
  site = await openSite()
}, 60_000)
afterAll(() => site.close())

test.each(VIEWS)('%s', { timeout: 60_000 }, async (view) => {
  const { page, complaints } = await openPage(site, `#/${view}`, 1280)
  await page.waitForFunction(() => document.querySelector('main [aria-busy=true]') === null)
  // What is drawn follows a frame or two after what is known.
  await page.waitForTimeout(5_000)
  await page.screenshot({ path: `${FOLDER}/page-${view}.png` })
  expect(complaints).toEqual([])
  await page.close()
})
