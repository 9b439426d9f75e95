/** A scenario in the address: nothing is stored anywhere else. */

export interface Scenario {
  toml: string
  /** Schemes side by side; none means the one that the scenario says. */
  schemes: string[]
}

/** More lines than these cannot be told apart. */
export const MOST_SCHEMES = 6

/** Longer texts are refused: an address could otherwise fill the memory. */
const MAX_BYTES = 4_000_000

/** The scenario, deflated, in the letters of base64url. */
export async function encode(scenario: Scenario): Promise<string> {
  const text = JSON.stringify([scenario.toml, ...scenario.schemes])
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw'))
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** The scenario of `encode`; an error says what is wrong with the address. */
export async function decode(text: string): Promise<Scenario> {
  const scenario = await unpack(text)
  const { length } = scenario.schemes
  if (length > MOST_SCHEMES) {
    throw new Error(`this address asks for ${length} schemes side by side, where the page runs up to ${MOST_SCHEMES}`)
  }
  return scenario
}

async function unpack(text: string): Promise<Scenario> {
  try {
    const letters = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0))
    const plain = await through(bytes, new DecompressionStream('deflate-raw'))
    const [toml, ...schemes] = JSON.parse(new TextDecoder().decode(plain)) as unknown[]
    if (typeof toml !== 'string' || !schemes.every((scheme) => typeof scheme === 'string'))
      throw new Error('no scenario')
    return { toml, schemes }
  } catch {
    throw new Error('this address holds no complete scenario: it may have been cut when it was copied')
  }
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader()
  const parts: Uint8Array[] = []
  let length = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.length
    if (length > MAX_BYTES) throw new Error('too long')
    parts.push(part.value)
  }
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
