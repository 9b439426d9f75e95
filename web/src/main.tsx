import { render } from 'preact'
import './ui/style.css'
import { Shell } from './ui/shell'

const place = document.getElementById('app')
if (place) render(<Shell />, place)
