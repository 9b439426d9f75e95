/** Reads the data files of the page, each once: those in the document, as a report has them, or those beside the page. */

const read = new Map<string, Promise<unknown>>()

/** A file that is in the document. */
function inside(path: string): HTMLScriptElement | undefined {
  return Array.from(document.scripts).find((script) => script.dataset.file === path)
}

/** Whether this is a report: a document with its data, which runs nothing and is opened from anywhere. */
export function isReport(): boolean {
  return document.querySelector('script[data-file]') !== null
}

async function fetched(path: string): Promise<unknown> {
  const response = await fetch(new URL(`data/${path}`, document.baseURI))
  // A server that answers every path with the page itself has no such file either.
  if (!response.ok || !response.headers.get('content-type')?.includes('json')) {
    throw new Error(`data/${path} is not beside the page`)
  }
  return response.json()
}

async function found(path: string): Promise<unknown> {
  const script = inside(path)
  if (script) return JSON.parse(script.text)
  if (isReport()) throw new Error(`${path} is not in this report`)
  return fetched(path)
}

/** A data file of the page, as the program that writes it lays it out. */
export function loadData(path: string): Promise<unknown> {
  const known = read.get(path)
  if (known) return known
  const begun = found(path)
  read.set(path, begun)
  // What failed, perhaps for want of a network, may be asked for again.
  begun.catch(() => read.delete(path))
  return begun
}
