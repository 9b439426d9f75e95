/** The scenario as text, with the engine's complaint at its line. */

import type { EngineError } from '../../engine/types'

interface Props {
  toml: string
  complaint: EngineError | undefined
  change: (toml: string) => void
}

export function Editor({ toml, complaint, change }: Props) {
  const lines = toml.split('\n')
  const bad = complaint?.line ?? undefined
  return (
    <div class="editor">
      <h2 id="editor-title">scenario.toml</h2>
      <div class="editor-box">
        <div class="gutter" aria-hidden="true">
          {lines.map((_, index) => (
            <span key={index} class={index + 1 === bad ? 'bad' : undefined}>
              {index + 1}
            </span>
          ))}
        </div>
        <div class="code">
          <pre aria-hidden="true">
            {lines.map((line, index) => (
              <span key={index} class={index + 1 === bad ? 'bad' : undefined}>
                <Coloured line={line} />
                {'\n'}
              </span>
            ))}
          </pre>
          <textarea
            aria-labelledby="editor-title"
            aria-invalid={complaint !== undefined}
            aria-describedby="complaint"
            spellcheck={false}
            autocapitalize="off"
            autocomplete="off"
            wrap="off"
            value={toml}
            onInput={({ currentTarget }) => {
              change(currentTarget.value)
            }}
          />
        </div>
      </div>
    </div>
  )
}

/** Comments, headers, keys and strings. Only looks: the engine reads the text. */
function Coloured({ line }: { line: string }) {
  const found = /^(\s*(?:\[.*\]|[^=#\s[\]][^=#]*(?==))?)((?:"(?:\\.|[^"\\])*"|'[^']*'|[^#"'])*)(.*)$/.exec(line)
  const [, key = '', value = line, comment = ''] = found ?? []
  return (
    <>
      <span class={key.trim().startsWith('[') ? 'header' : 'key'}>{key}</span>
      {value}
      <span class="comment">{comment}</span>
    </>
  )
}
