/** Row-level access control: SQL conditions for the rows that a viewer may read, reference and write. Ownership is decided nowhere else. */
import type { ScopeGroup } from '../../contract/metadata';
import type { Context, Viewer } from '../context';
import { forbiddenError, ClientError, unauthenticatedError } from '../model/errors';
import { fieldOf, type Entity } from '../model/fields';
import { OWNER_FIELD, resourceOf } from '../model/registry';
import { scopesInclude, scopeName, type Access, type Scope } from './scopes';
import { columnEquals, type SqlCondition } from './conditions';

type AccessContext = Pick<Context, 'viewer' | 'policies'>;

/** Returns the error if the viewer's access token lacks the required scope. Other ways of signing in are not restricted by scopes. */
export function missingScopeError(
  group: ScopeGroup | undefined,
  access: Access,
  { viewer }: Pick<Context, 'viewer'>,
): ClientError | undefined {
  const scopes = viewer?.scopes;
  if (!scopes || (group ? scopesInclude(scopes, access, group) : scopes.has('write'))) return undefined;
  const scope = scopeName(group ? (`${access}:${group}` satisfies Scope) : access);
  return new ClientError('FORBIDDEN', `This token is not for that: it lacks the scope ${scope}.`, { scope });
}

function requireScope(entity: Entity, access: Access, context: Pick<Context, 'viewer'>): void {
  const error = missingScopeError(resourceOf(entity)!.group, access, context);
  if (error) throw error;
}

/** Whether a value may be computed from the viewer's rows of the entity, whose scope an access token may lack. */
export const hasReadScope = (entity: Entity, context: Pick<Context, 'viewer'>): boolean =>
  !missingScopeError(resourceOf(entity)!.group, 'read', context);

/** Rejects access tokens: passwords, tokens and sessions are managed only by the user in person. */
export function requireAccountOwner({ viewer }: Pick<Context, 'viewer'>): Viewer {
  if (!viewer) throw unauthenticatedError();
  if (viewer.scopes) throw forbiddenError('An access token is not for passwords, tokens and sessions. Sign in, or use the API key.');
  return viewer;
}

/** Owner conditions of the entity, which every statement over its rows includes. Throws for an anonymous client if the entity is owned. */
export function ownerConditions(entity: Entity, { viewer }: Pick<Context, 'viewer'>): SqlCondition[] {
  const { owned, owner } = resourceOf(entity)!;
  if (!owned) return [];
  if (!viewer) throw unauthenticatedError();
  if (viewer.scopes) requireScope(entity, 'read', { viewer });
  return [(alias, bind) => `${alias}."${owner}" = ${bind(viewer.id)}`];
}

const columnConditions = (values: Readonly<Record<string, string>> = {}): SqlCondition[] =>
  Object.entries(values).map(([column, value]) => columnEquals(column, value));

/** Conditions for the rows of a public resource that are visible to everyone, because they have passed review. */
export const publishedConditions = (entity: Entity): SqlCondition[] => columnConditions(resourceOf(entity)?.visible);

/** Whether a public resource may have rows that are hidden from some viewers, such as those pending review. */
export const mayHideRows = (entity: Entity): boolean => {
  const { visible, visibleWith } = resourceOf(entity)!;
  return Boolean(visible ?? visibleWith);
};

/** Whether the viewer reviews contributions: superusers, unless references lead to unreviewed rows anyway. */
const isReviewer = ({ viewer, policies }: AccessContext): boolean =>
  !policies.showsUnreviewed && viewer?.isSuperuser === true && !missingScopeError('catalogue', 'read', { viewer });

/** Conditions for the rows that a viewer can see: those of `scope`, except public rows that are pending review or part of such a row. */
export function visibleRowConditions(entity: Entity, context: AccessContext): SqlCondition[] {
  if (isReviewer(context)) return ownerConditions(entity, context);
  const parentField = context.policies.showsUnreviewed ? undefined : resourceOf(entity)?.visibleWith;
  return [
    ...ownerConditions(entity, context),
    ...publishedConditions(entity),
    ...(parentField ? [parentVisible(entity, parentField, context)] : []),
  ];
}

function parentVisible(entity: Entity, parentField: string, context: AccessContext): SqlCondition {
  const { column, target } = fieldOf(entity, parentField);
  const { table } = resourceOf(target!())!;
  const conditions = visibleRowConditions(target!(), context);
  return (alias, bind) => {
    const parentAlias = `${alias}w`;
    const conditionsSql = conditions.map((condition) => ` AND ${condition(parentAlias, bind)}`).join('');
    return `EXISTS (SELECT FROM "${table}" ${parentAlias} WHERE ${parentAlias}."id" = ${alias}."${column}"${conditionsSql})`;
  };
}

/** Whether a viewer may reference every row of the entity within their scope. */
export const mayReferenceAllRows = (entity: Entity, context: AccessContext): boolean =>
  context.policies.showsUnreviewed || isReviewer(context) || !mayHideRows(entity);

/** Conditions for the rows that references may point to. REST includes every row that a user's own rows reference, reviewed or not. */
export const referenceableRowConditions = (entity: Entity, context: AccessContext): SqlCondition[] =>
  mayReferenceAllRows(entity, context) ? ownerConditions(entity, context) : visibleRowConditions(entity, context);

/**
 * Whether foreign keys alone reject every reference that violates `referenceableRowConditions`: keys of owned tables include the owner, and all rows
 * of other tables may be referenced. Throws where `referenceableRowConditions` throws.
 */
export function foreignKeysEnforceAccess(entity: Entity, context: AccessContext): boolean {
  ownerConditions(entity, context);
  return mayReferenceAllRows(entity, context);
}

/** Table that records which user contributed a row, if the entity accepts contributions. */
export const contributorTable = (entity: Entity): string | undefined => {
  const { contributed, table } = resourceOf(entity)!;
  return contributed && `${table}_contributor`;
};

/** Conditions for the rows that a viewer may update and delete: their own rows, or their contributions to a public resource before acceptance. */
export function writableRowConditions(entity: Entity, context: AccessContext): SqlCondition[] {
  requireScope(entity, 'write', context);
  const table = contributorTable(entity);
  if (!table) return ownerConditions(entity, context);
  const { viewer } = context;
  if (!viewer) throw unauthenticatedError();
  if (isReviewer(context)) return [];
  const isContributor: SqlCondition = (alias, bind) =>
    `EXISTS (SELECT FROM "${table}" c WHERE c."row_id" = ${alias}."id" AND c."${OWNER_FIELD.column}" = ${bind(viewer.id)})`;
  return [isContributor, ...columnConditions(resourceOf(entity)!.contributed)];
}

/** Owner whose change events the viewer receives for these entities; null for an anonymous client. Changes of public rows have no owner. */
export function changeOwnerId(entities: readonly Entity[], { viewer }: Pick<Context, 'viewer'>): number | null {
  const owned = entities.filter((entity) => resourceOf(entity)!.owned);
  if (!viewer && owned.length) throw unauthenticatedError();
  for (const entity of owned) requireScope(entity, 'read', { viewer });
  return viewer?.id ?? null;
}

/** Owner values of a new row. Throws if the viewer may not create rows of the entity. */
export function ownerValues(entity: Entity, { viewer }: Pick<Context, 'viewer'>): Record<string, number> {
  if (!viewer) throw unauthenticatedError();
  requireScope(entity, 'write', { viewer });
  return resourceOf(entity)?.owned ? { [OWNER_FIELD.field]: viewer.id } : {};
}
