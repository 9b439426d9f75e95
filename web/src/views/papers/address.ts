/** The address of what Papers shows. */
export function addressOf(values: Record<string, string>): string {
  return `#/papers?${new URLSearchParams(values).toString()}`
}
