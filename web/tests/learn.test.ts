import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { steps } from '../src/views/learn/steps'
import { startOf } from '../src/views/learn/step'
import { missing, openPage, openSite, THEMES, WIDTHS, type Site } from './browser'

const reason = missing()
const WAIT = { timeout: 30_000 }

describe.skipIf(reason !== undefined)('Learn', { timeout: 120_000 }, () => {
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

  async function open(hash: string, width?: number, theme?: (typeof THEMES)[number]): Promise<void> {
    ;({ page, complaints } = await openPage(site, hash, width, theme))
  }

  const heading = () => page.locator('.learn h2').textContent()
  const said = () => page.locator('.learn-says').innerText()
  const pressed = () => new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('step')

  test('One can walk through all steps, each with a conclusion of its own, and the address holds the step', async () => {
    await open('#/learn')
    for (const [index, { id, title }] of steps.entries()) {
      await expect.poll(heading, WAIT).toBe(`${index + 1}. ${title}`)
      await expect.poll(said, WAIT).toMatch(/\d/)
      if (index > 0) await expect.poll(pressed, WAIT).toBe(id)
      const next = page.getByRole('button', { name: /^Next/ })
      if (index + 1 < steps.length) await next.click()
      else expect(await next.count()).toBe(0)
    }
    await page.reload()
    await expect.poll(heading, WAIT).toBe(`8. ${steps[7]?.title ?? ''}`)
    await page.getByRole('button', { name: 'Back' }).click()
    await expect.poll(heading, WAIT).toBe(`7. ${steps[6]?.title ?? ''}`)
  })

  test('A control changes the result, the picture and the address, by keyboard too', async () => {
    await open('#/learn?step=collapse&senders=8')
    await expect.poll(said, WAIT).toContain('all of 8 answers')
    const slider = page.getByRole('slider', { name: 'Senders' })
    await slider.focus()
    await page.keyboard.press('End')
    await expect.poll(said, WAIT).toContain('all of 48 answers')
    await expect.poll(said, WAIT).toContain('This is incast collapse')
    await expect
      .poll(() => page.locator('canvas[role=img]').getAttribute('aria-label'), WAIT)
      .toContain('a row for each of 48')
    await page.reload()
    await expect.poll(said, WAIT).toContain('all of 48 answers')
    await page.keyboard.press('Tab')
    expect(await slider.getAttribute('aria-valuetext')).toBe('48')
  })

  test('A step opens in Play with its exact scenario and schemes, and the way back leads to it', async () => {
    const step = steps.find(({ id }) => id === 'rcc')
    if (!step) throw new Error('no such step')
    await open('#/learn?step=rcc&senders=64')
    await expect.poll(said, WAIT).toMatch(/\d/)
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await expect
      .poll(() => page.locator('.editor textarea').inputValue(), WAIT)
      .toBe(step.toml({ ...startOf(step), senders: '64' }))
    await expect
      .poll(() => page.locator('.totals thead th').allTextContents(), WAIT)
      .toEqual(['Total', ' rcc', ' dctcp'])
    await page.goBack()
    await expect.poll(heading, WAIT).toBe(`7. ${step.title}`)
    await expect
      .poll(() => page.getByRole('slider', { name: 'Senders' }).getAttribute('aria-valuetext'), WAIT)
      .toBe('64')
  })

  for (const theme of THEMES) {
    test(`Nothing is wider than the page at any step, ${theme}`, async () => {
      for (const { id } of steps) {
        await open(`#/learn?step=${id}`, WIDTHS[0], theme)
        await expect.poll(said, WAIT).toMatch(/\d/)
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 })
          const beyond = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          await expect.poll(beyond, { ...WAIT, message: `${id}, ${width} pixels` }).toBeLessThanOrEqual(0)
        }
        expect(complaints).toEqual([])
        if (id !== steps.at(-1)?.id) await page.close()
      }
    })
  }
})
