/** Files that the visitor takes away. They are made in the page. */

export function download(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has taken the content by the next task.
  setTimeout(() => {
    URL.revokeObjectURL(url)
  }, 0)
}

export type Cell = string | number | boolean | null

/** RFC 4180; missing values are empty. */
export function csv(header: string[], rows: Cell[][]): string {
  return [header, ...rows].map((row) => row.map(field).join(',') + '\r\n').join('')
}

function field(value: Cell): string {
  const text = value === null || (typeof value === 'number' && Number.isNaN(value)) ? '' : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
