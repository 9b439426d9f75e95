import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { encode } from '../src/scenario/address'
import { missing, openPage, openSite, type Site } from './browser'

/** Twice the senders that the port holds packets of: the first windows are lost in part. */
const COLLAPSE = `[network]
topology = "star"
buffer = "20pkt"
[transport]
rto-min = "5ms"
[[traffic]]
name = "servers"
kind = "incast"
senders = 40
bytes-each = "16KB"
`

/** 300 windows of 45 packets at once, and room for all of them. */
const CROWD = `[network]
topology = "star"
buffer = "20000pkt"
[transport]
initial-window = "45mss"
[[traffic]]
name = "servers"
kind = "incast"
senders = 300
bytes-each = "64KB"
`

const reason = missing()

describe.skipIf(reason !== undefined)('Watch', { timeout: 60_000 }, () => {
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

  async function open(toml: string): Promise<void> {
    const hash = `#/watch?s=${await encode({ toml, schemes: ['newreno'] })}`
    ;({ page, complaints } = await openPage(site, hash))
    await page.locator('.readout').waitFor()
  }

  const shown = (name: string) => page.locator(`.readout div:has(dt:text-is("${name}")) dd`).textContent()
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()

  test('One jumps to a drop, a timeout, and goes on and back by single arrivals', async () => {
    await open(COLLAPSE)
    // It opens where the first packets are lost.
    await expect.poll(() => shown('Drops')).toMatch(/^[1-9]\d* of \d+$/)
    // What was refused found the port full.
    await expect.poll(() => shown('Bottleneck')).toBe('20 pkt')
    const before = await shown('Time')
    await press('On by one arrival')
    await expect.poll(() => shown('Time')).not.toBe(before)
    await press('Back by one arrival')
    await expect.poll(() => shown('Time')).toBe(before)
    await press('Next timeout')
    await expect.poll(() => shown('Timeouts')).toMatch(/^[1-9]\d* of \d+$/)
    await press('Previous drop')
    await expect.poll(() => shown('Timeouts')).toMatch(/^0 of \d+$/)
  })

  test('A long run can be cancelled', async () => {
    const hash = `#/watch?s=${await encode({ toml: COLLAPSE.replace('16KB', '20MB'), schemes: ['newreno'] })}`
    ;({ page, complaints } = await openPage(site, hash))
    await press('Cancel')
    await page.getByText('Cancelled.').waitFor()
    expect(await page.locator('.readout').count()).toBe(0)
  })

  test('Time runs while it plays, and stands when it is stopped', async () => {
    await open(COLLAPSE)
    await press('Play')
    await expect.poll(() => shown('Frames')).toMatch(/^\d+ per s$/)
    await press('Pause')
    await expect.poll(() => shown('Frames')).toBe('paused')
    const stopped = await shown('Time')
    await page.waitForTimeout(300)
    expect(await shown('Time')).toBe(stopped)
  })

  test('Ten thousand packets are shown at once; how many frames a second is printed', async () => {
    await open(CROWD)
    const count = async () => {
      const [links, ports] = [await shown('On links'), await shown('At ports')]
      return [links, ports].reduce((sum, text) => sum + Number(text?.replace(/\D/g, '')), 0)
    }
    const time = page.getByRole('slider', { name: 'Time', exact: true })
    for (const step of [40, 80, 120, 160, 200, 300]) {
      await time.fill(String(step))
      if ((await count()) >= 10_000) break
    }
    await expect.poll(count).toBeGreaterThanOrEqual(10_000)
    await press('Play')
    await expect.poll(() => shown('Frames')).toMatch(/^\d+ per s$/)
    await page.waitForTimeout(2_000)
    console.info(`${await count()} packets on the screen: ${await shown('Frames')}`)
    expect(await count()).toBeGreaterThanOrEqual(10_000)
  })
})
