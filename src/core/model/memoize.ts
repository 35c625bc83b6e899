/** Memoization of one value per entity, such as a GraphQL type. GraphQL compares types by identity, so each must be created only once. */
import type { Entity } from './fields';

/**
 * Returns a memoized version of `make`. `complete` runs after the value is cached, so that it may request values of other entities, even if these in
 * turn need this value.
 */
export function memoizePerEntity<T>(make: (entity: Entity) => T, complete?: (value: T, entity: Entity) => void): (entity: Entity) => T {
  const cache = new Map<Entity, T>();
  return (entity) => {
    if (cache.has(entity)) return cache.get(entity)!;
    const value = make(entity);
    cache.set(entity, value);
    complete?.(value, entity);
    return value;
  };
}
