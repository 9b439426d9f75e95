import { render } from 'preact'
import './ui/style.css'
import { takeToken } from './data/served'
import { warm } from './engine/client'
import { readAddress } from './scenario/current'
import { Shell } from './ui/shell'

takeToken()
warm()
// A scenario in the address is there before anything runs.
await readAddress()
const place = document.getElementById('app')
if (place) render(<Shell />, place)
