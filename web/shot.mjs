// node shot.mjs URL OUT WIDTH HEIGHT THEME [waitms] [actions js]
import { chromium } from 'playwright-core'
const [url,out,w,h,theme,wait='2500',code] = process.argv.slice(2)
const b = await chromium.launch({executablePath:'/usr/bin/chromium', args:['--headless=new','--no-sandbox']})
const p = await b.newPage({viewport:{width:+w,height:+h}, colorScheme: theme})
p.on('console', m => m.type()==='error' && console.log('console:', m.text()))
p.on('pageerror', e => console.log('pageerror', e.message))
await p.goto(url); await p.waitForTimeout(+wait)
if (code) { const AF = Object.getPrototypeOf(async function(){}).constructor; await new AF('page', code)(p) }
await p.screenshot({path: out, fullPage: process.env.FULL==='1'})
await b.close()
