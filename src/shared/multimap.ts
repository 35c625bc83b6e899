/** Multimaps: maps from a key to a list of values. */

export function addToList<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);

  if (list) list.push(value);
  else lists.set(key, [value]);
}

/**
 * Groups values by key, in the order of their first occurrence. Node has `Map.groupBy` only since
 * version 21.
 */
export function groupBy<K, V>(values: Iterable<V>, keyOf: (value: V) => K): Map<K, V[]> {
  const lists = new Map<K, V[]>();

  for (const value of values) addToList(lists, keyOf(value), value);

  return lists;
}
