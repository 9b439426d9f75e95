/** Items by a key, in their order. */

export function append<Key, Item>(groups: Map<Key, Item[]>, key: Key, item: Item): void {
  const group = groups.get(key)
  if (group) group.push(item)
  else groups.set(key, [item])
}

export function grouped<Key, Item>(
  items: ArrayLike<Item>,
  keyOf: (item: Item, index: number) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as Item
    append(groups, keyOf(item, index), item)
  }
  return groups
}
