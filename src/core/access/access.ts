/** The rows that a viewer may touch. The only place where ownership is decided. */
import type { Group } from '../../contract/facts';
import type { Context, Viewer } from '../context';
import { forbidden, KnownError, notSignedIn } from '../model/errors';
import { fieldOf, type Entity } from '../model/fields';
import { OWNER, resourceOf } from '../model/registry';
import { includes, nameOf, type Access, type Scope } from './scopes';
import { equals, type Condition } from './conditions';

type Asker = Pick<Context, 'viewer' | 'api'>;

/** Why the token of the viewer is not for this, if it is not. Who did not come with an access token may do all that is theirs to do. */
export function lacking(group: Group | undefined, access: Access, { viewer }: Pick<Context, 'viewer'>): KnownError | undefined {
  const scopes = viewer?.scopes;
  if (!scopes || (group ? includes(scopes, access, group) : scopes.has('write'))) return undefined;
  const scope = nameOf(group ? (`${access}:${group}` satisfies Scope) : access);
  return new KnownError('FORBIDDEN', `This token is not for that: it lacks the scope ${scope}.`, { scope });
}

function demand(entity: Entity, access: Access, asker: Pick<Context, 'viewer'>): void {
  const refused = lacking(resourceOf(entity)!.group, access, asker);
  if (refused) throw refused;
}

/** Whether something may be worked out from the viewer's rows of the entity, which the token may not be for. */
export const mayRead = (entity: Entity, asker: Pick<Context, 'viewer'>): boolean => !lacking(resourceOf(entity)!.group, 'read', asker);

/** Passwords, tokens and sessions are for their owner alone, not for what they have given an access token to. */
export function demandOwner({ viewer }: Pick<Context, 'viewer'>): Viewer {
  if (!viewer) throw notSignedIn();
  if (viewer.scopes) throw forbidden('An access token is not for passwords, tokens and sessions. Sign in, or use the API key.');
  return viewer;
}

/** Conditions that every statement over the entity's rows has. Throws where an owned resource is asked for by nobody. */
export function scope(entity: Entity, { viewer }: Pick<Context, 'viewer'>): Condition[] {
  const { owned, owner } = resourceOf(entity)!;
  if (!owned) return [];
  if (!viewer) throw notSignedIn();
  if (viewer.scopes) demand(entity, 'read', { viewer });
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
const reviews = ({ viewer, api }: Asker): boolean =>
  api === 'graphql' && viewer?.isSuperuser === true && !lacking('catalogue', 'read', { viewer });

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

/**
 * Whether PostgreSQL refuses of itself every reference to a row that is not `reachable`: keys of owned tables hold the owner, others lead to all rows.
 * Throws where `reachable` does.
 */
export function keysReach(entity: Entity, asker: Asker): boolean {
  scope(entity, asker);
  return reachesAll(entity, asker);
}

/** The table of who added rows of the entity, if that is kept. */
export const contributors = (entity: Entity): string | undefined => {
  const { contributed, table } = resourceOf(entity)!;
  return contributed && `${table}_contributor`;
};

/** The rows that a viewer may change and delete: their own; of a public resource those that they added and nobody has accepted yet. */
export function writable(entity: Entity, asker: Asker): Condition[] {
  demand(entity, 'write', asker);
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
  const owned = entities.filter((entity) => resourceOf(entity)!.owned);
  if (!viewer && owned.length) throw notSignedIn();
  for (const entity of owned) demand(entity, 'read', { viewer });
  return viewer?.id ?? null;
}

/** What a new row of the entity carries of its owner. */
export function ownership(entity: Entity, { viewer }: Pick<Context, 'viewer'>): Record<string, number> {
  if (!viewer) throw notSignedIn();
  demand(entity, 'write', { viewer });
  return resourceOf(entity)?.owned ? { [OWNER.field]: viewer.id } : {};
}
