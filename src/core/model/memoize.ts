/** Memoization of one value per entity, such as a GraphQL type. GraphQL compares types by identity, so each must be created only once. */
import type { Entity } from './fields';

/**
 * Returns a memoized version of `create`. `afterCaching` runs when the value has been cached, so that it may request values of other entities, even
 * if these in turn need the cached value.
 */
export function memoizePerEntity<T>(
  create: (entity: Entity) => T,
  afterCaching?: (value: T, entity: Entity) => void,
): (entity: Entity) => T {
  const cache = new Map<Entity, T>();
  return (entity) => {
    if (cache.has(entity)) return cache.get(entity)!;
    const value = create(entity);
    cache.set(entity, value);
    afterCaching?.(value, entity);
    return value;
  };
}
