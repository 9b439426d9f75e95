/** Where nodes and links are drawn. */

import type { Topology } from '../../engine/types'

/** A place for a node, or for several hosts that are folded into one. */
export interface Spot {
  x: number
  y: number
  label: string
  kind: 'host' | 'switch'
  /** Indices of nodes. */
  nodes: number[]
}

export interface Layout {
  spots: Spot[]
  /** By node, the index of its spot. */
  spotOf: Int32Array
  /** By link: where it begins, and how far it goes. Opposite directions lie beside each other. */
  x: Float32Array
  y: Float32Array
  dx: Float32Array
  dy: Float32Array
  /** Whether hosts stand in columns, not in a row. */
  sideways: boolean
}

/** Hosts nearer to each other than this are folded. */
const NEAREST = 14
const MARGIN = { x: 76, y: 24 }
/** Half of the distance between the two directions of a cable. */
const BESIDE = 3.5

interface Size {
  width: number
  height: number
}

/** Neighbours of each node. */
function neighbours({ nodes, links }: Topology): number[][] {
  const found = nodes.map((): number[] => [])
  for (const { from, to } of links) if (!found[from]?.includes(to)) found[from]?.push(to)
  return found
}

/** Tiers, where a switch that joins others of its own tier stands above them, as the root of a tree does. */
function tiersOf(topology: Topology, near: number[][]): number[] {
  const tiers = topology.nodes.map((node) => node.tier)
  const fellows = (node: number) =>
    (near[node] ?? []).filter((other) => topology.nodes[other]?.kind === 'switch').length
  topology.nodes.forEach((node, index) => {
    if (node.kind !== 'switch') return
    const same = (near[index] ?? []).filter((other) => topology.nodes[other]?.tier === node.tier)
    if (same.some((other) => fellows(other) < fellows(index))) tiers[index] = node.tier + 1
  })
  return tiers
}

/** Hosts in so many groups of neighbours; those that stay alone are never folded. */
function fold(hosts: number[], groups: number, alone: ReadonlySet<number>): number[][] {
  const others = hosts.filter((host) => !alone.has(host))
  const single = hosts.filter((host) => alone.has(host)).map((host) => [host])
  const count = Math.max(Math.min(groups - single.length, others.length), others.length > 0 ? 1 : 0)
  const parts = Array.from({ length: count }, (_, part) =>
    others.slice(Math.round((part * others.length) / count), Math.round(((part + 1) * others.length) / count)),
  )
  return [...single, ...parts]
}

class Plan {
  readonly spots: Spot[] = []

  constructor(private readonly topology: Topology) {}

  add(nodes: number[], x: number, y: number): void {
    const [first = 0] = nodes
    const node = this.topology.nodes[first]
    const label = nodes.length > 1 ? `${nodes.length} hosts` : (node?.name ?? '')
    this.spots.push({ x, y, label, kind: node?.kind ?? 'host', nodes })
  }

  finish(sideways: boolean): Layout {
    const { nodes, links } = this.topology
    const spotOf = new Int32Array(nodes.length).fill(-1)
    this.spots.forEach((spot, index) => {
      for (const node of spot.nodes) spotOf[node] = index
    })
    const line = () => new Float32Array(links.length)
    const layout: Layout = { spots: this.spots, spotOf, x: line(), y: line(), dx: line(), dy: line(), sideways }
    links.forEach((link, index) => {
      const from = this.spots[spotOf[link.from] ?? 0]
      const to = this.spots[spotOf[link.to] ?? 0]
      if (!from || !to) return
      const [dx, dy] = [to.x - from.x, to.y - from.y]
      const length = Math.hypot(dx, dy) || 1
      layout.x[index] = from.x - (dy / length) * BESIDE
      layout.y[index] = from.y + (dx / length) * BESIDE
      layout.dx[index] = dx
      layout.dy[index] = dy
    })
    return layout
  }
}

/** Evenly spread places along a line. */
function spread(count: number, index: number, from: number, to: number): number {
  return from + ((index + 0.5) / count) * (to - from)
}

/** One or two switches in the middle, senders at the left, receivers at the right. */
function sideways(topology: Topology, near: number[][], receivers: ReadonlySet<number>, size: Size): Layout {
  const plan = new Plan(topology)
  const switches = topology.nodes.flatMap((node, index) => (node.kind === 'switch' ? [index] : []))
  const hosts = topology.nodes.flatMap((node, index) => (node.kind === 'host' ? [index] : []))
  const bottleneck = topology.links.find((link) => link.bottleneck)
  const [first = 0] = switches
  const last = switches.at(-1) ?? first
  const leftSwitch = switches.length === 2 && bottleneck?.from === last ? last : first
  const isRight = (host: number) =>
    switches.length === 2 ? !near[host]?.includes(leftSwitch) : receivers.has(host) || host === bottleneck?.to
  const { width, height } = size
  const rows = Math.max(Math.floor((height - 2 * MARGIN.y) / NEAREST), 2)
  const columns: [number[], number][] = [
    [hosts.filter((host) => !isRight(host)), MARGIN.x],
    [hosts.filter(isRight), width - MARGIN.x],
  ]
  const alone = new Set(bottleneck ? [bottleneck.to] : [])
  for (const [column, x] of columns) {
    const groups = fold(column, rows, alone)
    groups.forEach((nodes, index) => {
      plan.add(nodes, x, spread(groups.length, index, MARGIN.y, height - MARGIN.y))
    })
  }
  const order = leftSwitch === first ? switches : [...switches].reverse()
  order.forEach((node, index) => {
    plan.add([node], width * (order.length === 1 ? 0.45 : 0.34 + 0.3 * index), height / 2)
  })
  return plan.finish(true)
}

/** Tiers above each other, hosts below. */
function upright(topology: Topology, near: number[][], size: Size): Layout {
  const plan = new Plan(topology)
  const tiers = tiersOf(topology, near)
  const top = Math.max(...tiers)
  const bottleneck = topology.links.find((link) => link.bottleneck)
  const alone = new Set(bottleneck && topology.nodes[bottleneck.to]?.kind === 'host' ? [bottleneck.to] : [])
  const { width, height } = size
  const switchOf = (host: number) => near[host]?.[0] ?? -1
  const raised = (host: number) => (tiers[switchOf(host)] ?? 0) > 1
  const rows = top + 1 + (topology.nodes.some((node, index) => node.kind === 'host' && raised(index)) ? 1 : 0)
  const levelY = (tier: number) => height - MARGIN.y - (tier / Math.max(rows - 1, 1)) * (height - 2 * MARGIN.y)
  const hosts = topology.nodes.flatMap((node, index) => (node.kind === 'host' ? [index] : []))
  const edges = [...new Set(hosts.filter((host) => !raised(host)).map(switchOf))].sort((one, other) => one - other)
  const room = Math.max(Math.floor((width - MARGIN.x) / NEAREST / Math.max(edges.length, 1)), 1)
  const groups = edges.map((edge) =>
    fold(
      hosts.filter((host) => switchOf(host) === edge),
      room,
      alone,
    ),
  )
  const count = groups.reduce((sum, each) => sum + each.length, 0)
  let next = 0
  for (const group of groups)
    for (const nodes of group) plan.add(nodes, spread(count, next++, MARGIN.x / 2, width - MARGIN.x / 2), levelY(0))
  for (let tier = 1; tier <= top; tier++) {
    const level = topology.nodes.flatMap((node, index) =>
      node.kind === 'switch' && tiers[index] === tier ? [index] : [],
    )
    level.forEach((node, index) => {
      plan.add([node], spread(level.length, index, MARGIN.x / 2, width - MARGIN.x / 2), levelY(tier))
    })
  }
  const above = hosts.filter(raised)
  fold(above, Math.max(Math.floor((width - MARGIN.x) / NEAREST), 1), alone).forEach((nodes, index, all) => {
    plan.add(nodes, spread(all.length, index, MARGIN.x / 2, width - MARGIN.x / 2), levelY(top + 1))
  })
  return plan.finish(false)
}

/** `receivers` are hosts that only receive. */
export function layoutOf(topology: Topology, receivers: ReadonlySet<number>, size: Size): Layout {
  const near = neighbours(topology)
  const switches = topology.nodes.filter((node) => node.kind === 'switch').length
  return switches <= 2 ? sideways(topology, near, receivers, size) : upright(topology, near, size)
}
