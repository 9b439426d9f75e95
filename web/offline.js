/// <reference lib="webworker" />
/**
 * The service worker: after the first visit the page needs no network. The build puts before it `FILES`, all that the page consists of,
 * and `VERSION`, a digest of them. A new version is taken once no page shows the old one.
 */

const cacheName = `fanin-${VERSION}`

self.addEventListener('install', (event) => {
  // Past the browser's own cache, which could mix two versions.
  const requests = FILES.map((file) => new Request(file, { cache: 'reload' }))
  event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll(requests)))
})

self.addEventListener('activate', (event) => {
  const old = (name) => name.startsWith('fanin-') && name !== cacheName
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name)))))
})

self.addEventListener('fetch', (event) => {
  const known = new Set(FILES.map((file) => new URL(file, self.registration.scope).href))
  const { method, url } = event.request
  // Everything else, such as results that a server has, goes its own way.
  if (method !== 'GET' || !known.has(url.split(/[?#]/)[0])) return
  // A server may say that files vary with who asks: these do not.
  const found = caches.match(event.request, { cacheName, ignoreSearch: true, ignoreVary: true })
  event.respondWith(found.then((response) => response ?? fetch(event.request)))
})
