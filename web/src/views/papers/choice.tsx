/** One of several, or all. */

interface Props {
  label: string
  value: string
  options: [string, string][]
  choose: (value: string) => void
}

export function Choice({ label, value, options, choose }: Props) {
  return (
    <label>
      <span class="label">{label}</span>
      <select
        value={value}
        onChange={({ currentTarget }) => {
          choose(currentTarget.value)
        }}
      >
        <option value="">All</option>
        {options.map(([key, title]) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
    </label>
  )
}
