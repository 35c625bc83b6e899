/** The rows that a viewer may touch. The only place where ownership is decided. */
import type { Context } from './context';
import { notSignedIn } from './errors';
import { fieldOf, type Entity } from './fields';
import { resourceOf } from './resource';
import { equals, type Condition } from './conditions';

/** The name of the owner's field and column, on every owned table. */
export const OWNER = { field: 'userId', column: 'user_id' } as const;

/** Who asks, and by which interface. */
type Asker = Pick<Context, 'viewer' | 'api'>;

/** Conditions that every statement over the entity's rows has. Throws where an owned resource is asked for by nobody. */
export function scope(entity: Entity, { viewer }: Pick<Context, 'viewer'>): Condition[] {
  const { owned, owner } = resourceOf(entity)!;
  if (!owned) return [];
  if (!viewer) throw notSignedIn();
  return [(alias, bind) => `${alias}."${owner}" = ${bind(viewer.id)}`];
}

const holding = (values: Readonly<Record<string, string>> = {}): Condition[] =>
  Object.entries(values).map(([column, value]) => equals(column, value));

/** What everybody sees of a public resource: rows that have passed the review. */
export const published = (entity: Entity): Condition[] => holding(resourceOf(entity)?.visible);

/** Whether there may be rows of the entity that a viewer is not shown although they are nobody's. */
export const hidesRows = (entity: Entity): boolean => {
  const { visible, visibleWith } = resourceOf(entity)!;
  return Boolean(visible ?? visibleWith);
};

/** Superusers review contributions; REST has no special view for them. */
const reviews = ({ viewer, api }: Asker): boolean => api === 'graphql' && viewer?.isSuperuser === true;

/** As `scope`, less the rows of a public resource that the viewer is not shown yet, such as pending ones, and what is part of such rows. */
export function visible(entity: Entity, asker: Asker): Condition[] {
  if (reviews(asker)) return scope(entity, asker);
  const whole = asker.api === 'graphql' ? resourceOf(entity)?.visibleWith : undefined;
  return [...scope(entity, asker), ...published(entity), ...(whole ? [belowVisible(entity, whole, asker)] : [])];
}

function belowVisible(entity: Entity, by: string, asker: Asker): Condition {
  const { column, target } = fieldOf(entity, by);
  const { table } = resourceOf(target!())!;
  const conditions = visible(target!(), asker);
  return (alias, bind) => {
    const inner = `${alias}w`;
    const also = conditions.map((condition) => ` AND ${condition(inner, bind)}`).join('');
    return `EXISTS (SELECT FROM "${table}" ${inner} WHERE ${inner}."id" = ${alias}."${column}"${also})`;
  };
}

/** Whether references lead the asker to all rows of the entity that there are in their scope. */
export const reachesAll = (entity: Entity, asker: Asker): boolean => asker.api === 'rest' || reviews(asker) || !hidesRows(entity);

/** The rows that a reference leads to and that a write may name. REST follows those of a user's own rows whatever their review says. */
export const reachable = (entity: Entity, asker: Asker): Condition[] =>
  reachesAll(entity, asker) ? scope(entity, asker) : visible(entity, asker);

/** The table of who added rows of the entity, if that is kept. */
export const contributors = (entity: Entity): string | undefined => {
  const { contributed, table } = resourceOf(entity)!;
  return contributed && `${table}_contributor`;
};

/** The rows that a viewer may change and delete: their own; of a public resource those that they added and nobody has accepted yet. */
export function writable(entity: Entity, asker: Asker): Condition[] {
  const table = contributors(entity);
  if (!table) return scope(entity, asker);
  const { viewer } = asker;
  if (!viewer) throw notSignedIn();
  if (reviews(asker)) return [];
  const added: Condition = (alias, bind) =>
    `EXISTS (SELECT FROM "${table}" c WHERE c."row_id" = ${alias}."id" AND c."${OWNER.column}" = ${bind(viewer.id)})`;
  return [added, ...holding(resourceOf(entity)!.contributed)];
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
