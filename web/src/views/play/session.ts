/** What Play works on: the runs of the current scenario, and the values that are in effect. */

import { engine } from '../../engine/client'
import { Latest } from '../../engine/latest'
import {
  FIRST_SECONDS,
  requestFor,
  schemesOf,
  secondsOf,
  simulate,
  type Batch,
  type Request,
} from '../../engine/simulate'
import type { ResolvedValue } from '../../engine/types'

/** Time bins that are so many times too wide or too narrow are not worth looking at. */
const FAR = 8

let expected = FIRST_SECONDS

export const runs = new Latest<Request, Batch>(async (request, signal, progress) => {
  const asked = expected
  const batch = await simulate(engine, request, { signal, progress }, asked)
  expected = secondsOf(batch)
  const off = Math.max(expected / asked, asked / expected)
  return off > FAR ? simulate(engine, request, { signal, progress }, expected) : batch
})

/**
 * Values in effect by their paths: those of the first scheme, and the other schemes' own parameters. Those in which
 * schemes of one run differ are left out.
 */
export const effective = new Latest<Request, Map<string, ResolvedValue>>(async (request) => {
  const lists = await Promise.all(schemesOf(request).map((scheme) => engine.resolved(requestFor(request.toml, scheme))))
  return new Map(
    lists
      .reverse()
      .flat()
      .filter((value) => value.scheme === null)
      .map((value) => [value.path, value]),
  )
})
