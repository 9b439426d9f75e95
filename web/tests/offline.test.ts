import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missing, openPage, openSite, type Site } from './browser'

const reason = missing()

describe.skipIf(reason !== undefined)('without a network', { timeout: 60_000 }, () => {
  let site: Site
  beforeAll(async () => {
    site = await openSite()
  }, 60_000)
  afterAll(() => site.close())

  test('After the first visit everything runs, also views that were not open then', async () => {
    const { page, complaints } = await openPage(site, '#/learn')
    await page.evaluate(async () => {
      await navigator.serviceWorker.register('./sw.js')
      await navigator.serviceWorker.ready
    })
    await page.context().setOffline(true)
    await page.reload()
    await page.goto(`${site.url}#/play`)
    await page.waitForFunction(() => document.querySelector('.totals td')?.textContent.includes('bit'))
    expect(complaints).toEqual([])
    await page.close()
  })
})
