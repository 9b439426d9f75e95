/** What is wrong, in the engine's words, and what to do. */

import { EngineError } from '../engine/types'
import { Refused } from '../engine/limits'

export function Complaint({ error, command }: { error: Error; command: string }) {
  return (
    <div id="complaint" class="complaint" role="alert">
      {error instanceof EngineError ? <EngineComplaint error={error} /> : <Other error={error} command={command} />}
    </div>
  )
}

function EngineComplaint({ error }: { error: EngineError }) {
  return (
    <p class="note bad">
      {error.line !== null && <strong>{`Line ${error.line}: `}</strong>}
      {error.key && <code>{error.key}</code>}
      {error.key && ': '}
      {error.message}
      {error.suggestion && (
        <>
          {' '}
          (did you mean <code>{error.suggestion}</code>?)
        </>
      )}
      {error.more.map((line) => (
        <span key={line} class="more">
          {line}
        </span>
      ))}
    </p>
  )
}

function Other({ error, command }: { error: Error; command: string }) {
  return (
    <p class={error instanceof Refused ? 'note part' : 'note bad'}>
      {error.message}
      {error instanceof Refused && (
        <>
          {' '}
          In a terminal: <code>{command}</code>
        </>
      )}
    </p>
  )
}
