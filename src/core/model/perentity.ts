/** What is made of an entity's fields, once for each entity however often it is asked for: GraphQL knows types by their identity. */
import type { Entity } from './fields';

/** `complete` runs when the value is known already, so that it may ask for others whose own completion leads back to this one. */
export function perEntity<T>(make: (entity: Entity) => T, complete?: (made: T, entity: Entity) => void): (entity: Entity) => T {
  const known = new Map<Entity, T>();
  return (entity) => {
    if (known.has(entity)) return known.get(entity)!;
    const made = make(entity);
    known.set(entity, made);
    complete?.(made, entity);
    return made;
  };
}
