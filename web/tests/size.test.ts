import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

/** Bytes over the network for everything that the page can ever load, data files included. */
const MOST_BYTES = 1_700_000

const built = existsSync('dist/fanin.wasm')

function compressed(folder: string): Map<string, number> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  // The report's files are the Python package's, and no page asks for them.
  const asked = files.filter((entry) => !entry.parentPath.endsWith('report'))
  return new Map(
    asked.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path, gzipSync(readFileSync(path), { level: 9 }).length]
    }),
  )
}

test.skipIf(!built)('The whole page is small', () => {
  const sizes = compressed('dist')
  const sum = (part: RegExp) => [...sizes].reduce((total, [path, size]) => total + (part.test(path) ? size : 0), 0)
  const [engine, code, data] = [sum(/\.wasm$/), sum(/\.(js|css|html)$/), sum(/\.json$/)]
  console.info(`compressed: engine ${engine} B, code ${code} B, data ${data} B, together ${sum(/./)} B`)
  expect(engine).toBeGreaterThan(0)
  expect(sum(/./)).toBeLessThan(MOST_BYTES)
})
