/** A report of `fanin report`: the view Papers in a document of its own, which has its data and opens from a disk. */

import { render } from 'preact'
import { Frame } from './ui/frame'
import './ui/style.css'
import Papers from './views/papers'

const place = document.getElementById('app')
const brand = <span class="brand">fanin report</span>
if (place) {
  render(
    <Frame brand={brand}>
      <Papers />
    </Frame>,
    place,
  )
}
