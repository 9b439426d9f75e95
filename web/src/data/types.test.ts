import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import type { Papers } from './papers'

const text = (name: string) => readFileSync(`public/data/${name}`, 'utf8')
const { experiments } = JSON.parse(text('papers.json')) as Papers

const SOURCE = `
import type { Preset } from '../scenario/presets'
import type { Experiment, Papers } from './papers'
import type { Ranking } from './ranking'
export const papers: Papers = ${text('papers.json')}
export const ranking: Ranking = ${text('ranking.json')}
export const presets: Preset[] = ${text('presets.json')}
export const experiments: Experiment[] = [
${experiments
  .filter(({ run }) => run)
  .map(({ key }) => text(`experiments/${key}.json`))
  .join(',\n')}
]
export const wrong: Papers = {}
`

/** The compiler's complaints about a file that is only in memory, beside this one. */
function complaints(source: string): string[] {
  const file = join(import.meta.dirname, 'data-as-literals.ts')
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path)).config,
    ts.sys,
    '.',
  )
  const disk = ts.createCompilerHost(options)
  const host: ts.CompilerHost = {
    ...disk,
    getSourceFile: (name, version) =>
      name === file ? ts.createSourceFile(name, source, version) : disk.getSourceFile(name, version),
  }
  const program = ts.createProgram([file], options, host)
  return program
    .getSemanticDiagnostics(program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

test('The data are of the types that the page reads them as', { timeout: 120_000 }, () => {
  expect(complaints(SOURCE)).toEqual([
    expect.stringContaining("Type '{}' is missing the following properties from type 'Papers'"),
  ])
})
