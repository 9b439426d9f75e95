import { render } from 'preact'
import './ui/style.css'
import { warm } from './engine/client'
import { Shell } from './ui/shell'

warm()
const place = document.getElementById('app')
if (place) render(<Shell />, place)
