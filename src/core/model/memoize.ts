/** Memoizes a value per entity, such as a GraphQL type, which must be created only once because GraphQL compares types by identity. */
import type { Entity } from './fields';

/** `complete` runs after the value is cached, so that it may request values of other entities that lead back to this one. */
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
