/** The rows that a viewer may touch. The only place where ownership is decided. */
import type { Context } from './context';
import { notSignedIn } from './errors';
import type { Entity } from './fields';
import { resourceOf } from './resource';
import type { Condition } from './conditions';

/** The name of the owner's field and column, on every owned table. */
export const OWNER = { field: 'userId', column: 'user_id' } as const;

/** Conditions that every statement over the entity's rows has. Throws where an owned resource is asked for by nobody. */
export function scope(entity: Entity, { viewer }: Pick<Context, 'viewer'>): Condition[] {
  const { owned, owner } = resourceOf(entity)!;
  if (!owned) return [];
  if (!viewer) throw notSignedIn();
  return [(alias, bind) => `${alias}."${owner}" = ${bind(viewer.id)}`];
}

/** As `scope`, less the rows of a public resource that nobody is shown yet, such as pending ones. */
export function visible(entity: Entity, context: Pick<Context, 'viewer'>): Condition[] {
  const shown = Object.entries(resourceOf(entity)?.visible ?? {});
  return [
    ...scope(entity, context),
    ...shown.map(
      ([column, value]): Condition =>
        (alias, bind) =>
          `${alias}."${column}" = ${bind(value)}`,
    ),
  ];
}

/** Whose changes the viewer reads of rows of these entities: their own of owned ones, and of public ones those that are nobody's. */
export function ownerOf(entities: readonly Entity[], { viewer }: Pick<Context, 'viewer'>): number | null {
  if (!viewer && entities.some((entity) => resourceOf(entity)!.owned)) throw notSignedIn();
  return viewer?.id ?? null;
}

/** What a new row of the entity carries of its owner. */
export function ownership(entity: Entity, { viewer }: Pick<Context, 'viewer'>): Record<string, number> {
  if (!viewer) throw notSignedIn();
  return resourceOf(entity)?.owned ? { [OWNER.field]: viewer.id } : {};
}
