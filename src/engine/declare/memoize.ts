/**
 * Memoization of one value per entity, such as a GraphQL type. GraphQL compares types by identity,
 * so each must be created once.
 */
import type { Entity } from './fields';

/**
 * Memoizes `create`. `afterCaching` may request values of other entities that in turn need the
 * cached value, so that cyclic types can be built.
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
