import { beforeAll, describe, expect, test } from 'vitest'
import { presets } from '../../scenario/presets'
import { loadEngine, missingEngine } from '../../trace/engine.node'
import { layoutOf } from './layout'

const STAR = presets[0].toml
const NETWORKS = {
  star: STAR,
  'large star': STAR.replace('senders = 24', 'senders = 400'),
  'two switches': STAR.replace('"star"', '"two-switch"'),
  tree: STAR.replace('"star"', '"tree"').replace('senders = 24', 'senders = 9'),
  'leaves and spines': STAR.replace('"star"', '"leaf-spine"'),
  'fat-tree': STAR.replace('"star"', '"fat-tree"\npods = 8'),
}
const SIZES = [
  { width: 366, height: 420 },
  { width: 1000, height: 460 },
  { width: 1860, height: 560 },
]

let engine: Awaited<ReturnType<typeof loadEngine>>

describe.skipIf(missingEngine !== undefined)('layout', () => {
  beforeAll(async () => {
    engine = await loadEngine()
  })

  for (const [name, toml] of Object.entries(NETWORKS)) {
    test(`Every node of a ${name} has a place in the picture, and no two spots share one`, () => {
      const topology = engine.topology(toml)
      const bottleneck = topology.links.find((link) => link.bottleneck)
      for (const size of SIZES) {
        const { spots, spotOf, dx, dy } = layoutOf(topology, new Set([bottleneck?.to ?? 0]), size)
        expect([...spotOf].filter((spot) => spot < 0)).toEqual([])
        for (const { x, y } of spots) {
          expect(x > 0 && x < size.width && y > 0 && y < size.height).toBe(true)
        }
        expect(new Set(spots.map(({ x, y }) => `${x.toFixed(2)}/${y.toFixed(2)}`)).size).toBe(spots.length)
        topology.links.forEach((_, link) => {
          expect(Math.hypot(dx[link] ?? 0, dy[link] ?? 0)).toBeGreaterThan(1)
        })
        expect(spots[spotOf[bottleneck?.to ?? 0] ?? 0]?.nodes).toEqual([bottleneck?.to])
      }
    })
  }
})
