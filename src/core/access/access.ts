/** Row-level access control: SQL conditions for the rows that a viewer may read, reference and write. Ownership is decided nowhere else. */
import type { Group } from '../../contract/facts';
import type { Context, Viewer } from '../context';
import { forbidden, KnownError, notSignedIn } from '../model/errors';
import { fieldOf, type Entity } from '../model/fields';
import { OWNER, resourceOf } from '../model/registry';
import { includes, nameOf, type Access, type Scope } from './scopes';
import { equals, type Condition } from './conditions';

type AccessContext = Pick<Context, 'viewer' | 'api'>;

/** Returns the error if the viewer's access token lacks the required scope. Other ways of signing in are not restricted by scopes. */
export function lacking(group: Group | undefined, access: Access, { viewer }: Pick<Context, 'viewer'>): KnownError | undefined {
  const scopes = viewer?.scopes;
  if (!scopes || (group ? includes(scopes, access, group) : scopes.has('write'))) return undefined;
  const scope = nameOf(group ? (`${access}:${group}` satisfies Scope) : access);
  return new KnownError('FORBIDDEN', `This token is not for that: it lacks the scope ${scope}.`, { scope });
}

function requireScope(entity: Entity, access: Access, context: Pick<Context, 'viewer'>): void {
  const error = lacking(resourceOf(entity)!.group, access, context);
  if (error) throw error;
}

/** Whether a value may be computed from the viewer's rows of the entity, whose scope an access token may lack. */
export const mayRead = (entity: Entity, context: Pick<Context, 'viewer'>): boolean => !lacking(resourceOf(entity)!.group, 'read', context);

/** Rejects access tokens: passwords, tokens and sessions are managed only by the user in person. */
export function demandOwner({ viewer }: Pick<Context, 'viewer'>): Viewer {
  if (!viewer) throw notSignedIn();
  if (viewer.scopes) throw forbidden('An access token is not for passwords, tokens and sessions. Sign in, or use the API key.');
  return viewer;
}

/** Owner conditions of the entity, which every statement over its rows includes. Throws for an anonymous client if the entity is owned. */
export function scope(entity: Entity, { viewer }: Pick<Context, 'viewer'>): Condition[] {
  const { owned, owner } = resourceOf(entity)!;
  if (!owned) return [];
  if (!viewer) throw notSignedIn();
  if (viewer.scopes) requireScope(entity, 'read', { viewer });
  return [(alias, bind) => `${alias}."${owner}" = ${bind(viewer.id)}`];
}

const columnConditions = (values: Readonly<Record<string, string>> = {}): Condition[] =>
  Object.entries(values).map(([column, value]) => equals(column, value));

/** Conditions for the rows of a public resource that are visible to everyone, because they have passed review. */
export const published = (entity: Entity): Condition[] => columnConditions(resourceOf(entity)?.visible);

/** Whether a public resource may have rows that are hidden from some viewers, such as those pending review. */
export const hidesRows = (entity: Entity): boolean => {
  const { visible, visibleWith } = resourceOf(entity)!;
  return Boolean(visible ?? visibleWith);
};

/** Whether the viewer reviews contributions: superusers in GraphQL. REST shows them the same rows as everyone. */
const isReviewer = ({ viewer, api }: AccessContext): boolean =>
  api === 'graphql' && viewer?.isSuperuser === true && !lacking('catalogue', 'read', { viewer });

/** Conditions for the rows that a viewer can see: those of `scope`, except public rows that are pending review or part of such a row. */
export function visible(entity: Entity, context: AccessContext): Condition[] {
  if (isReviewer(context)) return scope(entity, context);
  const parentField = context.api === 'graphql' ? resourceOf(entity)?.visibleWith : undefined;
  return [...scope(entity, context), ...published(entity), ...(parentField ? [parentVisible(entity, parentField, context)] : [])];
}

function parentVisible(entity: Entity, parentField: string, context: AccessContext): Condition {
  const { column, target } = fieldOf(entity, parentField);
  const { table } = resourceOf(target!())!;
  const conditions = visible(target!(), context);
  return (alias, bind) => {
    const parentAlias = `${alias}w`;
    const conditionsSql = conditions.map((condition) => ` AND ${condition(parentAlias, bind)}`).join('');
    return `EXISTS (SELECT FROM "${table}" ${parentAlias} WHERE ${parentAlias}."id" = ${alias}."${column}"${conditionsSql})`;
  };
}

/** Whether a viewer may reference every row of the entity within their scope. */
export const reachesAll = (entity: Entity, context: AccessContext): boolean =>
  context.api === 'rest' || isReviewer(context) || !hidesRows(entity);

/** Conditions for the rows that references may point to. REST includes every row that a user's own rows reference, reviewed or not. */
export const reachable = (entity: Entity, context: AccessContext): Condition[] =>
  reachesAll(entity, context) ? scope(entity, context) : visible(entity, context);

/**
 * Whether foreign keys alone reject every reference to a row that is not `reachable`: keys of owned tables include the owner, and all rows of other
 * tables may be referenced. Throws where `reachable` throws.
 */
export function keysReach(entity: Entity, context: AccessContext): boolean {
  scope(entity, context);
  return reachesAll(entity, context);
}

/** Table that records which user contributed a row, if the entity accepts contributions. */
export const contributors = (entity: Entity): string | undefined => {
  const { contributed, table } = resourceOf(entity)!;
  return contributed && `${table}_contributor`;
};

/** Conditions for the rows that a viewer may update and delete: their own rows, or their contributions to a public resource before acceptance. */
export function writable(entity: Entity, context: AccessContext): Condition[] {
  requireScope(entity, 'write', context);
  const table = contributors(entity);
  if (!table) return scope(entity, context);
  const { viewer } = context;
  if (!viewer) throw notSignedIn();
  if (isReviewer(context)) return [];
  const isContributor: Condition = (alias, bind) =>
    `EXISTS (SELECT FROM "${table}" c WHERE c."row_id" = ${alias}."id" AND c."${OWNER.column}" = ${bind(viewer.id)})`;
  return [isContributor, ...columnConditions(resourceOf(entity)!.contributed)];
}

/** Owner whose change events the viewer receives for these entities; null for an anonymous client. Changes of public rows have no owner. */
export function ownerOf(entities: readonly Entity[], { viewer }: Pick<Context, 'viewer'>): number | null {
  const owned = entities.filter((entity) => resourceOf(entity)!.owned);
  if (!viewer && owned.length) throw notSignedIn();
  for (const entity of owned) requireScope(entity, 'read', { viewer });
  return viewer?.id ?? null;
}

/** Owner values of a new row. Throws if the viewer may not create rows of the entity. */
export function ownership(entity: Entity, { viewer }: Pick<Context, 'viewer'>): Record<string, number> {
  if (!viewer) throw notSignedIn();
  requireScope(entity, 'write', { viewer });
  return resourceOf(entity)?.owned ? { [OWNER.field]: viewer.id } : {};
}
