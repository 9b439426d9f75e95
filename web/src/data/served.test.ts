import { afterEach, expect, test, vi } from 'vitest'
import { hasToken, listRuns, readTable, received, ServedError, takeToken } from './served'

const kept = new Map<string, string>()
const replaced: string[] = []

function at(hash: string): void {
  vi.stubGlobal('location', { hash, pathname: '/sub/' })
  vi.stubGlobal('history', { replaceState: (_: unknown, __: string, url: string) => replaced.push(url) })
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  })
  vi.stubGlobal('document', { baseURI: 'http://127.0.0.1:8000/sub/' })
}

function answering(body: unknown, init: ResponseInit, type = 'application/json') {
  const asked = vi.fn<typeof fetch>(() =>
    Promise.resolve(new Response(JSON.stringify(body), { ...init, headers: { 'content-type': type } })),
  )
  vi.stubGlobal('fetch', asked)
  return asked
}

afterEach(() => {
  kept.clear()
  replaced.length = 0
  vi.unstubAllGlobals()
})

test('the token is kept and leaves the address', () => {
  at('#token=a-b_C9')
  takeToken()
  expect([...kept.values()]).toEqual(['a-b_C9'])
  expect(replaced).toEqual(['/sub/#/runs'])
  expect(hasToken()).toBe(true)
})

test.each(['', '#/runs', '#/play?s=token=x', '#token=', '#token=a b', '#token=a/b'])('%s is no token', (hash) => {
  at(hash)
  takeToken()
  expect(hasToken()).toBe(false)
  expect(replaced).toEqual([])
})

test('a request has the token in a header, and its words in the query', async () => {
  at('#token=secret')
  takeToken()
  const asked = answering({ runs: [] }, { status: 200 })
  await listRuns({ search: 'a&b=c', sort: 'drops', descending: true, offset: 50 })
  const [url, init] = asked.mock.calls[0] ?? []
  expect((url as URL).href).toBe(
    'http://127.0.0.1:8000/sub/api/runs?search=a%26b%3Dc&sort=drops&order=descending&offset=50&limit=50',
  )
  expect(init?.headers).toEqual({ authorization: 'Bearer secret' })
})

test('a refusal is told in the words of the server', async () => {
  at('')
  answering({ detail: 'the table is damaged' }, { status: 422 }, 'application/problem+json')
  await expect(readTable('../x', 'flows', 5)).rejects.toEqual(new ServedError('the table is damaged', 422))
})

test('a server that answers everything with the page is none of fanin', async () => {
  at('')
  answering('<!doctype html>', { status: 200 }, 'text/html')
  await expect(readTable('x', 'flows', 5)).rejects.toThrow('not a server of fanin')
})

test('missing values are NaN', () => {
  const column = { name: 'a', unit: 's', description: '', label: '', kind: 'number' as const, names: [] }
  const table = received({ name: 't', description: '', rows: 2, of: 9, columns: [{ ...column, values: [1.5, null] }] })
  expect(table.columns[0]?.values).toEqual(Float64Array.of(1.5, Number.NaN))
  expect(table.of).toBe(9)
})
