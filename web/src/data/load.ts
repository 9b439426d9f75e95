/** Reads the files beside the page, each once. */

const read = new Map<string, Promise<unknown>>()

async function fetched(path: string): Promise<unknown> {
  const response = await fetch(new URL(`data/${path}`, document.baseURI))
  // A server that answers every path with the page itself has no such file either.
  if (!response.ok || !response.headers.get('content-type')?.includes('json')) {
    throw new Error(`data/${path} is not beside the page`)
  }
  return response.json()
}

/** A data file of the page, as the program that writes it lays it out. */
export function loadData(path: string): Promise<unknown> {
  const known = read.get(path)
  if (known) return known
  const begun = fetched(path)
  read.set(path, begun)
  // What failed, perhaps for want of a network, may be asked for again.
  begun.catch(() => read.delete(path))
  return begun
}
