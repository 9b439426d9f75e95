/** Buttons that hand out a plot as a picture. It is made here, from the numbers that are drawn. */

import { download } from './download'
import { pngOf, svgOf, type Figure } from './figure'

interface Props {
  title: string
  /** Of the files, without their endings. */
  name: string
  figure: () => Figure
}

export function Exports({ title, name, figure }: Props) {
  return (
    <div class="row exports">
      <button
        type="button"
        aria-label={`${title} as SVG`}
        onClick={() => {
          download(`${name}.svg`, svgOf(figure()), 'image/svg+xml')
        }}
      >
        SVG
      </button>
      <button
        type="button"
        aria-label={`${title} as PNG`}
        onClick={() => {
          void pngOf(figure()).then((blob) => {
            download(`${name}.png`, blob, 'image/png')
          })
        }}
      >
        PNG
      </button>
    </div>
  )
}
