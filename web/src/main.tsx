import { render } from 'preact'
import './ui/style.css'
import { takeToken } from './data/served'
import { warm } from './engine/client'
import { readAddress } from './scenario/current'
import { Shell } from './ui/shell'

takeToken()
warm()
// A site is kept for times without a network; `fanin serve`, which is not encrypted, is there when its page is.
if (location.protocol === 'https:') void navigator.serviceWorker.register('./sw.js')
// A scenario in the address is there before anything runs.
await readAddress()
const place = document.getElementById('app')
if (place) render(<Shell />, place)
