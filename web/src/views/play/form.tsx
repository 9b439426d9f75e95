/** The scenario as a form, made from what the registry declares. */

import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { EngineError, Param, Registry, ResolvedValue } from '../../engine/types'
import { literalOf, nameOf, newGroup, sectionsOf, type Section } from '../../scenario/form'
import { addToArray, read, removeFromArray, removeValue, setValue, valueAt, type Document } from '../../scenario/toml'

interface Props {
  registry: Registry | undefined
  toml: string
  schemes: string[]
  values: Map<string, ResolvedValue> | undefined
  complaint: EngineError | undefined
  change: (toml: string) => void
}

/** What the fields have in common. */
interface Context {
  document: Document
  values: Map<string, ResolvedValue> | undefined
  complaint: EngineError | undefined
  search: string
  change: (toml: string) => void
  explain: (told: Told) => void
}

interface Told {
  name: string
  param: Param
  inEffect: ResolvedValue | undefined
}

/** The last text that is TOML: the form keeps showing it while somebody types something else. */
function useReadable(toml: string): Document {
  const document = useMemo(() => read(toml), [toml])
  const [last, setLast] = useState(document)
  if (!document.broken && document !== last) setLast(document)
  return document.broken ? last : document
}

export function Form({ registry, toml, schemes, values, complaint, change }: Props) {
  const document = useReadable(toml)
  const [search, setSearch] = useState('')
  const [told, explain] = useState<Told | undefined>()
  const context: Context = { document, values, complaint, search: search.trim().toLowerCase(), change, explain }
  const stale = document.text !== toml
  return (
    <div class="form">
      <div class="row form-head">
        <h2>Form</h2>
        <input
          type="search"
          placeholder="Find a key"
          aria-label="Find a key"
          value={search}
          onInput={({ currentTarget }) => {
            setSearch(currentTarget.value)
          }}
        />
      </div>
      <fieldset class="sections" disabled={stale}>
        <legend class="visually-hidden">Values of the scenario</legend>
        {(registry ? sectionsOf(registry, document, schemes) : []).map((section) => (
          <SectionFields key={section.id} section={section} context={context} />
        ))}
        {registry && <Adders registry={registry} context={context} />}
      </fieldset>
      <Explanation told={told} stale={stale} />
    </div>
  )
}

function SectionFields({ section, context }: { section: Section; context: Context }) {
  const { document, search, change } = context
  const isSet = (param: Param) => valueAt(document, [...section.path, param.key]) !== undefined
  const found = search ? section.params.filter((param) => matches(section, param, search)) : section.params
  const set = found.filter(isSet)
  const others = found.filter((param) => !isSet(param))
  if (search && found.length === 0) return null
  return (
    <Disclosure
      class="section"
      open={set.length > 0 || search !== ''}
      title={
        <>
          {section.title} <span class="soft small">{section.summary}</span>
        </>
      }
    >
      {set.map((param) => (
        <Field key={param.key} section={section} param={param} context={context} />
      ))}
      {others.length > 0 && (
        <Disclosure
          class="others"
          open={search !== ''}
          title={<span class="soft">{`${others.length} ${set.length > 0 ? 'more ' : ''}with defaults`}</span>}
        >
          {others.map((param) => (
            <Field key={param.key} section={section} param={param} context={context} />
          ))}
        </Disclosure>
      )}
      {section.index !== undefined && (
        <button
          type="button"
          class="small"
          onClick={() => {
            change(removeFromArray(document.text, String(section.path[0]), section.index ?? 0))
          }}
        >
          {`Remove ${section.title.toLowerCase()}`}
        </button>
      )}
    </Disclosure>
  )
}

interface DisclosureProps {
  class: string
  title: ComponentChildren
  /** Whether it is open until somebody closes or opens it. */
  open: boolean
  children: ComponentChildren
}

/** What is closed is not in the document: a scenario has hundreds of keys, and sliders change it many times a second. */
function Disclosure({ class: name, title, open, children }: DisclosureProps) {
  const [chosen, setChosen] = useState<boolean | undefined>()
  const shown = chosen ?? open
  return (
    <details class={name} open={shown}>
      <summary
        onClick={(event) => {
          event.preventDefault()
          setChosen(!shown)
        }}
      >
        {title}
      </summary>
      {shown && children}
    </details>
  )
}

function matches(section: Section, param: Param, search: string): boolean {
  return `${nameOf(section, param)} ${param.doc}`.toLowerCase().includes(search)
}

interface FieldProps {
  section: Section
  param: Param
  context: Context
}

function Field({ section, param, context }: FieldProps) {
  const { document, values, complaint, change, explain } = context
  const path = [...section.path, param.key]
  const name = nameOf(section, param)
  const value = valueAt(document, path)
  const inEffect = values?.get(name)
  const wrong = complaint?.key === name
  const tell = () => {
    explain({ name, param, inEffect })
  }
  const write = (text: string) => {
    if (text === '') change(removeValue(document.text, path))
    else change(setValue(document.text, path, literalOf(param, text)))
  }
  return (
    <div class={value === undefined ? 'field' : 'field set'} onFocusIn={tell} onMouseEnter={tell}>
      <label for={`field-${name}`}>{param.key}</label>
      <Control
        id={`field-${name}`}
        param={param}
        value={value === undefined ? '' : String(value)}
        fallback={inEffect?.value ?? param.default}
        wrong={wrong}
        write={write}
      />
      <button
        type="button"
        class="plain reset"
        disabled={value === undefined}
        aria-label={`Take the default of ${param.key}`}
        onClick={() => {
          write('')
        }}
      >
        ×
      </button>
      {wrong && <p class="field-problem">{complaint.message}</p>}
    </div>
  )
}

interface ControlProps {
  id: string
  param: Param
  value: string
  fallback: string
  wrong: boolean
  write: (text: string) => void
}

/** Free text can have words that may be in it; everything else with words is a choice. */
function Control({ param, ...rest }: ControlProps) {
  const choice = param.words.length > 0 && (param.takes.includes(' | ') || param.takes === 'true or false')
  return choice ? <Choice param={param} {...rest} /> : <FreeText param={param} {...rest} />
}

/** What is typed stays until it is done, also when results arrive meanwhile and the form is drawn anew. */
function FreeText({ id, param, value, fallback, wrong, write }: ControlProps) {
  const [typed, setTyped] = useState<string | undefined>()
  return (
    <input
      id={id}
      value={typed ?? value}
      placeholder={fallback}
      title={param.takes}
      list={listOf(param)}
      aria-invalid={wrong}
      aria-describedby="explanation"
      onInput={({ currentTarget }) => {
        setTyped(currentTarget.value)
      }}
      onChange={({ currentTarget }) => {
        write(currentTarget.value)
        setTyped(undefined)
      }}
      onBlur={() => {
        setTyped(undefined)
      }}
    />
  )
}

function Choice({ id, param, value, fallback, wrong, write }: ControlProps) {
  return (
    <select
      id={id}
      value={value}
      aria-invalid={wrong}
      aria-describedby="explanation"
      onChange={({ currentTarget }) => {
        write(currentTarget.value)
      }}
    >
      <option value="">{fallback ? `default: ${fallback}` : 'not set'}</option>
      {param.words.map((word) => (
        <option key={word} value={word}>
          {word}
        </option>
      ))}
      {value !== '' && !param.words.includes(value) && <option value={value}>{value}</option>}
    </select>
  )
}

/** Names of workloads for sizes; made once per form, see `Adders`. */
function listOf(param: Param): string | undefined {
  return param.takes.includes('workload') ? 'workloads' : undefined
}

function Adders({ registry, context: { document, change } }: { registry: Registry; context: Context }) {
  const add = (array: 'traffic' | 'fault', kind: string) => {
    change(addToArray(document.text, array, newGroup(registry, document, array, kind)))
  }
  return (
    <div class="row adders">
      <Adder
        label="Add traffic"
        kinds={registry.traffic}
        add={(kind) => {
          add('traffic', kind)
        }}
      />
      <Adder
        label="Add a fault"
        kinds={registry.faults}
        add={(kind) => {
          add('fault', kind)
        }}
      />
      <datalist id="workloads">
        {registry.workloads.map((workload) => (
          <option key={workload.key} value={workload.key}>
            {workload.title}
          </option>
        ))}
      </datalist>
    </div>
  )
}

interface AdderProps {
  label: string
  kinds: { key: string; summary: string }[]
  add: (kind: string) => void
}

function Adder({ label, kinds, add }: AdderProps) {
  return (
    <select
      aria-label={label}
      value=""
      onChange={({ currentTarget }) => {
        if (currentTarget.value) add(currentTarget.value)
        currentTarget.value = ''
      }}
    >
      <option value="">{label}…</option>
      {kinds.map((kind) => (
        <option key={kind.key} value={kind.key} title={kind.summary}>
          {kind.key}
        </option>
      ))}
    </select>
  )
}

/** One place for all hints, so that nothing moves when another field is looked at. */
function Explanation({ told, stale }: { told: Told | undefined; stale: boolean }) {
  return (
    <div id="explanation" class="explanation small">
      {stale && <p>The form waits until the text is TOML again.</p>}
      {!stale && !told && <p class="soft">Every key has its explanation here: point at one.</p>}
      {!stale && told && (
        <>
          <p>
            <code>{told.name}</code> {told.param.doc}
          </p>
          <p class="soft">
            {`Takes ${told.param.takes}. `}
            {told.param.default && `Default ${told.param.default}. `}
            {told.inEffect?.is_default && `In effect: ${told.inEffect.value} (${told.inEffect.source}). `}
            {!told.inEffect?.is_default && `Source: ${told.param.source}.`}
          </p>
        </>
      )}
    </div>
  )
}
