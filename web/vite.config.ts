import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

/** Nothing but the page's own files is loaded or run; WebAssembly may be compiled, and no text becomes code. */
const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** The policy is written into the built page only: while one develops, Vite puts styles into the document. */
const contentSecurityPolicy: Plugin = {
  name: 'content-security-policy',
  apply: 'build',
  transformIndexHtml: () => [
    { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: policy }, injectTo: 'head-prepend' },
  ],
}

/** All files below a folder, by their paths in it. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
}

/** Writes the service worker once all other files are there: it lists them, and changes when one of them does. */
const serviceWorker: Plugin = {
  name: 'service-worker',
  apply: 'build',
  writeBundle({ dir }) {
    if (dir === undefined) throw new Error('the page is built into a folder')
    const files = filesIn(dir).filter((file) => file !== 'sw.js')
    const digest = createHash('sha256')
    for (const file of files) digest.update(file).update(readFileSync(join(dir, file)))
    const said = `const VERSION = '${digest.digest('hex').slice(0, 16)}'\nconst FILES = ${JSON.stringify(['./', ...files])}\n`
    writeFileSync(join(dir, 'sw.js'), said + readFileSync('offline.js', 'utf8'))
  },
}

export default defineConfig({
  base: './',
  plugins: [contentSecurityPolicy, serviceWorker],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  worker: { format: 'es' },
  // The palette is the Python package's.
  server: { fs: { allow: ['..'] } },
  // What a browser shows is awaited and not read once: machines that test are busy.
  test: { expect: { poll: { timeout: 20_000 } } },
})
