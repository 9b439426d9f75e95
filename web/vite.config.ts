import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Plugin } from 'vite'
import { defineConfig, type ViteUserConfig as UserConfig } from 'vitest/config'

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

/** What is the same in the page and in a report. */
const shared: UserConfig = {
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // Machines that test are busy: a test may take longer than usual, and what a browser shows is awaited and not read once.
  test: { testTimeout: 60_000, expect: { poll: { timeout: 20_000 } } },
}

const page: UserConfig = {
  ...shared,
  base: './',
  plugins: [contentSecurityPolicy, serviceWorker],
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  worker: { format: 'es' },
}

/** The script of a report stands in its document, where these would end it. */
const insideDocument: Plugin = {
  name: 'inside-document',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      const text = String(file.type === 'chunk' ? file.code : file.source)
      if (/<\/(script|style)|<!--|\r/i.test(text)) throw new Error(`${file.fileName} cannot be inside a document`)
    }
  },
}

/** A report is one document: its script is a classic one, as modules are not loaded from a disk. It comes after the page, which lists its own files. */
const report: UserConfig = {
  ...shared,
  plugins: [insideDocument],
  publicDir: false,
  define: { 'process.env.NODE_ENV': '"production"' },
  build: {
    target: 'es2022',
    outDir: 'dist/report',
    lib: {
      entry: 'src/report.tsx',
      name: 'report',
      formats: ['iife'],
      fileName: () => 'report.js',
      cssFileName: 'report',
    },
  },
}

export default defineConfig(({ mode }) => (mode === 'report' ? report : page))
