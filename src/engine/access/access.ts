/**
 * Row-level access control: SQL conditions for the rows that a viewer (the user who sent the
 * request) may read, reference and write. No other module decides who owns a row.
 */
import type { Context, Viewer } from '../context';
import { forbiddenError, ClientError, unauthenticatedError } from '../declare/errors';
import { fieldOf, type Entity } from '../declare/fields';
import { OWNER_FIELD, resourceOf } from '../declare/registry';
import { scopesInclude, graphqlScopeName, type AccessKind, type Scope } from './scopes';
import { columnEquals, type SqlCondition } from './conditions';

type AccessContext = Pick<Context, 'viewer' | 'policies'>;

/**
 * Creates an error if the viewer's access token lacks the scope for the resource group (without a
 * group: the scope to write everything). Requests without an access token are not restricted by
 * scopes.
 */
export function missingScopeError(
  group: string | undefined,
  access: AccessKind,
  { viewer }: Pick<Context, 'viewer'>,
): ClientError | undefined {
  const scopes = viewer?.scopes;

  if (!scopes) return undefined;
  const isPermitted = group ? scopesInclude(scopes, access, group) : scopes.has('write');

  if (isPermitted) return undefined;

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

/** Whether the viewer's access token (if any) has the scope to read rows of the entity. */
export const hasReadScope = (entity: Entity, context: Pick<Context, 'viewer'>): boolean =>
  !missingScopeError(resourceOf(entity)!.scopeGroup, 'read', context);

/**
 * Rejects anonymous clients and access tokens: only users themselves may manage passwords, tokens
 * and sessions.
 */
export function requireViewerWithoutAccessToken({ viewer }: Pick<Context, 'viewer'>): Viewer {
  if (!viewer) throw unauthenticatedError();

  if (viewer.scopes) {
    throw forbiddenError(
      'Access tokens cannot manage passwords, tokens and sessions. Sign in, or use the API key.',
    );
  }

  return viewer;
}

/** Rejects everyone but superusers: only they administrate the accounts of others. */
export function requireSuperuser(context: Pick<Context, 'viewer'>): Viewer {
  const viewer = requireViewerWithoutAccessToken(context);

  if (!viewer.isSuperuser) throw forbiddenError();

  return viewer;
}

/**
 * Restricts a statement to the viewer's own rows. Every statement on an owned table must include
 * these conditions; a public entity has none.
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

/** Restricts a statement to public rows that have passed review, which everyone can see. */
export const publishedRowConditions = (entity: Entity): SqlCondition[] =>
  columnValueConditions(resourceOf(entity)?.publishedColumnValues);

/**
 * Whether some rows of a public resource are hidden from some viewers, such as rows pending review.
 */
export const mayHaveHiddenRows = (entity: Entity): boolean => {
  const { publishedColumnValues, visibilityParentFieldName } = resourceOf(entity)!;

  return Boolean(publishedColumnValues ?? visibilityParentFieldName);
};

/**
 * Whether the viewer may see contributions pending review. Reviewers are superusers in GraphQL; an
 * access token also needs the scope to read the catalogue. REST has no reviewers, because there
 * superusers see the same rows as other users.
 */
const isReviewer = ({ viewer, policies }: AccessContext): boolean =>
  !policies.showsUnreviewedRows &&
  viewer?.isSuperuser === true &&
  !missingScopeError('catalogue', 'read', { viewer });

/**
 * Restricts a statement to rows that the viewer can see: their own rows of an owned entity, or
 * published rows of a public one. GraphQL also hides rows whose parent row
 * (`visibilityParentFieldName`) is hidden. Reviewers see all public rows.
 */
export function visibleRowConditions(entity: Entity, context: AccessContext): SqlCondition[] {
  const conditions = ownerConditions(entity, context);

  if (isReviewer(context)) return conditions;
  conditions.push(...publishedRowConditions(entity));
  const parentFieldName = resourceOf(entity)?.visibilityParentFieldName;

  if (parentFieldName && !context.policies.showsUnreviewedRows) {
    conditions.push(parentVisibleCondition(entity, parentFieldName, context));
  }

  return conditions;
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

    return `EXISTS (SELECT FROM "${table}" ${parentAlias}
      WHERE ${parentAlias}."id" = ${alias}."${column}"${conditionsSql})`;
  };
}

/**
 * Whether the viewer may refer to every row of a public entity, including rows pending review, or
 * to every own row of an owned entity.
 */
export const mayReferenceAllRows = (entity: Entity, context: AccessContext): boolean =>
  context.policies.showsUnreviewedRows || isReviewer(context) || !mayHaveHiddenRows(entity);

/**
 * Restricts references in the viewer's input to permitted rows. In REST these include rows pending
 * review.
 */
export const referenceableRowConditions = (
  entity: Entity,
  context: AccessContext,
): SqlCondition[] => {
  if (mayReferenceAllRows(entity, context)) return ownerConditions(entity, context);

  return visibleRowConditions(entity, context);
};

/**
 * Whether foreign keys alone reject references to rows that the viewer may not reference. True for
 * owned tables, because their foreign keys include the owner, and for public tables whose rows may
 * all be referenced.
 */
export function foreignKeysEnforceAccess(entity: Entity, context: AccessContext): boolean {
  // Rejects anonymous clients and access tokens without the required scope.
  ownerConditions(entity, context);
  return mayReferenceAllRows(entity, context);
}

/** Table that records who contributed a row, for public resources that accept contributions. */
export const contributorTableOf = (entity: Entity): string | undefined => {
  const { pendingColumnValues, table } = resourceOf(entity)!;

  return pendingColumnValues && `${table}_contributor`;
};

/**
 * Restricts a statement to rows that the viewer may update and delete: own rows, or own
 * contributions that are pending review. Reviewers may change all public rows.
 */
export function writableRowConditions(entity: Entity, context: AccessContext): SqlCondition[] {
  requireScope(entity, 'write', context);
  const table = contributorTableOf(entity);

  if (!table) return ownerConditions(entity, context);
  const { viewer } = context;

  if (!viewer) throw unauthenticatedError();
  if (isReviewer(context)) return [];
  const isContributor: SqlCondition = (alias, bind) =>
    `EXISTS (SELECT FROM "${table}" c WHERE c."row_id" = ${alias}."id"
      AND c."${OWNER_FIELD.column}" = ${bind(viewer.id)})`;

  return [isContributor, ...columnValueConditions(resourceOf(entity)!.pendingColumnValues)];
}

/**
 * Owner whose changes the viewer may read from the change log. Anonymous clients (null) read only
 * changes of public rows.
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

/** Rejects anonymous clients and access tokens without the scope to write rows of the entity. */
export function requireWriteScope(entity: Entity, { viewer }: Pick<Context, 'viewer'>): Viewer {
  if (!viewer) throw unauthenticatedError();
  requireScope(entity, 'write', { viewer });
  return viewer;
}

/** Sets the owner of a new row to the viewer. Public entities have no owner field. */
export function ownerFieldValues(
  entity: Entity,
  context: Pick<Context, 'viewer'>,
): Record<string, number> {
  const viewer = requireWriteScope(entity, context);

  return resourceOf(entity)?.isOwned ? { [OWNER_FIELD.field]: viewer.id } : {};
}
