/**
 * Row-level access control: SQL conditions for the rows that a viewer (the user who sent the request) may read, reference and write. No other module
 * decides who owns a row.
 */
import type { ScopeGroup } from '../../contract/metadata';
import type { Context, Viewer } from '../context';
import { forbiddenError, ClientError, unauthenticatedError } from '../model/errors';
import { fieldOf, type Entity } from '../model/fields';
import { OWNER_FIELD, resourceOf } from '../model/registry';
import { scopesInclude, graphqlScopeName, type AccessKind, type Scope } from './scopes';
import { columnEquals, type SqlCondition } from './conditions';

type AccessContext = Pick<Context, 'viewer' | 'policies'>;

/** Returns an error if the viewer's access token lacks the required scope. Without an access token, scopes do not restrict the viewer. */
export function missingScopeError(
  group: ScopeGroup | undefined,
  access: AccessKind,
  { viewer }: Pick<Context, 'viewer'>,
): ClientError | undefined {
  const scopes = viewer?.scopes;
  if (!scopes || (group ? scopesInclude(scopes, access, group) : scopes.has('write')))
    return undefined;
  const scope = graphqlScopeName(group ? (`${access}:${group}` satisfies Scope) : access);
  return new ClientError(
    'FORBIDDEN',
    `This token does not permit this: it lacks the scope ${scope}.`,
    { scope },
  );
}

function requireScope(entity: Entity, access: AccessKind, context: Pick<Context, 'viewer'>): void {
  const error = missingScopeError(resourceOf(entity)!.scopeGroup, access, context);
  if (error) throw error;
}

/** Whether the viewer's access token permits reading rows of the entity, for example to compute a value. Always true without an access token. */
export const hasReadScope = (entity: Entity, context: Pick<Context, 'viewer'>): boolean =>
  !missingScopeError(resourceOf(entity)!.scopeGroup, 'read', context);

/**
 * Returns the viewer. Throws for anonymous clients and for requests with an access token: only users themselves may manage passwords, tokens and
 * sessions.
 */
export function requireViewerWithoutAccessToken({ viewer }: Pick<Context, 'viewer'>): Viewer {
  if (!viewer) throw unauthenticatedError();
  if (viewer.scopes)
    throw forbiddenError(
      'Access tokens cannot manage passwords, tokens and sessions. Sign in, or use the API key.',
    );
  return viewer;
}

/**
 * Returns the conditions that restrict a statement to the viewer's own rows; none for a public entity. Every statement on rows of an owned entity
 * must include them. For an owned entity, throws if the client is anonymous or its access token lacks the read scope.
 */
export function ownerConditions(
  entity: Entity,
  { viewer }: Pick<Context, 'viewer'>,
): SqlCondition[] {
  const { isOwned, ownerColumn } = resourceOf(entity)!;
  if (!isOwned) return [];
  if (!viewer) throw unauthenticatedError();
  if (viewer.scopes) requireScope(entity, 'read', { viewer });
  return [(alias, bind) => `${alias}."${ownerColumn}" = ${bind(viewer.id)}`];
}

const columnValueConditions = (values: Readonly<Record<string, string>> = {}): SqlCondition[] =>
  Object.entries(values).map(([column, value]) => columnEquals(column, value));

/** Returns the conditions for the rows of a public resource that are visible to everyone, because they have passed review. */
export const publishedRowConditions = (entity: Entity): SqlCondition[] =>
  columnValueConditions(resourceOf(entity)?.publishedColumnValues);

/** Whether a public resource may have rows that are hidden from some viewers, such as those pending review. */
export const mayHaveHiddenRows = (entity: Entity): boolean => {
  const { publishedColumnValues, visibilityParentFieldName } = resourceOf(entity)!;
  return Boolean(publishedColumnValues ?? visibilityParentFieldName);
};

/**
 * Whether the viewer is a reviewer, who may see contributions pending review: a superuser whose access token, if any, has the scope to read the
 * catalogue. In REST (policy `showsUnreviewedRows`) nobody is a reviewer: superusers see the same rows as other users.
 */
const isReviewer = ({ viewer, policies }: AccessContext): boolean =>
  !policies.showsUnreviewedRows &&
  viewer?.isSuperuser === true &&
  !missingScopeError('catalogue', 'read', { viewer });

/**
 * Returns the conditions for the rows that the viewer can see. For an owned entity, these are the viewer's own rows; for a public entity, the rows that
 * have passed review and, if a parent row determines their visibility (`visibilityParentFieldName`; GraphQL only), whose parent row is visible. Reviewers see
 * all rows of public entities.
 */
export function visibleRowConditions(entity: Entity, context: AccessContext): SqlCondition[] {
  if (isReviewer(context)) return ownerConditions(entity, context);
  const parentFieldName = context.policies.showsUnreviewedRows
    ? undefined
    : resourceOf(entity)?.visibilityParentFieldName;
  return [
    ...ownerConditions(entity, context),
    ...publishedRowConditions(entity),
    ...(parentFieldName ? [parentVisibleCondition(entity, parentFieldName, context)] : []),
  ];
}

function parentVisibleCondition(
  entity: Entity,
  parentFieldName: string,
  context: AccessContext,
): SqlCondition {
  const { column, target } = fieldOf(entity, parentFieldName);
  const { table } = resourceOf(target!())!;
  const conditions = visibleRowConditions(target!(), context);
  return (alias, bind) => {
    const parentAlias = `${alias}w`;
    const conditionsSql = conditions
      .map((condition) => ` AND ${condition(parentAlias, bind)}`)
      .join('');
    return `EXISTS (SELECT FROM "${table}" ${parentAlias} WHERE ${parentAlias}."id" = ${alias}."${column}"${conditionsSql})`;
  };
}

/**
 * Whether the viewer may write references to all rows of a public entity, even those pending review, or to all own rows of an owned entity.
 */
export const mayReferenceAllRows = (entity: Entity, context: AccessContext): boolean =>
  context.policies.showsUnreviewedRows || isReviewer(context) || !mayHaveHiddenRows(entity);

/** Returns the conditions for the rows that references written by the viewer may point to. In REST these include rows pending review. */
export const referenceableRowConditions = (
  entity: Entity,
  context: AccessContext,
): SqlCondition[] =>
  mayReferenceAllRows(entity, context)
    ? ownerConditions(entity, context)
    : visibleRowConditions(entity, context);

/**
 * Whether foreign keys alone reject every reference to a row that does not meet `referenceableRowConditions`. True for owned tables, because their
 * foreign keys include the owner, and for public tables of which all rows may be referenced. Throws if `referenceableRowConditions` throws.
 */
export function foreignKeysEnforceAccess(entity: Entity, context: AccessContext): boolean {
  ownerConditions(entity, context);
  return mayReferenceAllRows(entity, context);
}

/** Returns the name of the table that records who contributed a row; undefined if the entity accepts no contributions. */
export const contributorTableOf = (entity: Entity): string | undefined => {
  const { pendingColumnValues, table } = resourceOf(entity)!;
  return pendingColumnValues && `${table}_contributor`;
};

/**
 * Returns the conditions for the rows that the viewer may update and delete: own rows, or own contributions to a public resource that are pending
 * review. Reviewers may change all rows of a public resource.
 */
export function writableRowConditions(entity: Entity, context: AccessContext): SqlCondition[] {
  requireScope(entity, 'write', context);
  const table = contributorTableOf(entity);
  if (!table) return ownerConditions(entity, context);
  const { viewer } = context;
  if (!viewer) throw unauthenticatedError();
  if (isReviewer(context)) return [];
  const isContributor: SqlCondition = (alias, bind) =>
    `EXISTS (SELECT FROM "${table}" c WHERE c."row_id" = ${alias}."id" AND c."${OWNER_FIELD.column}" = ${bind(viewer.id)})`;
  return [isContributor, ...columnValueConditions(resourceOf(entity)!.pendingColumnValues)];
}

/**
 * Returns the id of the owner of the rows whose changes the viewer may receive: the viewer's id, or null for an anonymous client, who receives only
 * changes of public rows. Throws if the viewer may not read one of the entities.
 */
export function ownerIdForChangeLog(
  entities: readonly Entity[],
  { viewer }: Pick<Context, 'viewer'>,
): number | null {
  const ownedEntities = entities.filter((entity) => resourceOf(entity)!.isOwned);
  if (!viewer && ownedEntities.length) throw unauthenticatedError();
  for (const entity of ownedEntities) requireScope(entity, 'read', { viewer });
  return viewer?.id ?? null;
}

/** Returns the owner field of a new row with its value; empty for a public entity. Throws if the viewer may not create rows of the entity. */
export function ownerFieldValues(
  entity: Entity,
  { viewer }: Pick<Context, 'viewer'>,
): Record<string, number> {
  if (!viewer) throw unauthenticatedError();
  requireScope(entity, 'write', { viewer });
  return resourceOf(entity)?.isOwned ? { [OWNER_FIELD.field]: viewer.id } : {};
}
