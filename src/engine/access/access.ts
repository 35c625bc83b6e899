/**
 * Row-level access control: SQL conditions for the rows that a viewer (the user who sent the
 * request) may read, reference and write. No other module decides who owns a row.
 */
import type { Context, Viewer } from '../context';
import { forbiddenError, ClientError, unauthenticatedError } from '../declare/errors';
import { fieldOf, type Entity } from '../declare/fields';
import {
  CATALOGUE_SCOPE_GROUP,
  OWNER_FIELD,
  resourceOf,
  RETIRED_COLUMN,
} from '../declare/registry';
import { wholeOf } from '../declare/wholes';
import { scopesInclude, graphqlScopeName, type AccessKind, type Scope } from './scopes';
import { allOf, anyOf, columnEquals, type SqlCondition } from './conditions';

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

const columnValueConditions = (
  values: Readonly<Record<string, string | boolean>> = {},
  ignoredColumn?: string,
): SqlCondition[] =>
  Object.entries(values)
    .filter(([column]) => column !== ignoredColumn)
    .map(([column, value]) => columnEquals(column, value));

/**
 * Whether some rows of a public resource are hidden from some viewers, such as rows pending review.
 */
export const mayHaveHiddenRows = (entity: Entity): boolean => {
  const { publishedColumnValues, visibilityParentFieldName } = resourceOf(entity)!;

  return Boolean(publishedColumnValues ?? visibilityParentFieldName);
};

/**
 * Whether the viewer may see and write all public rows. In REST nobody may, because there curators
 * see the same rows as other users.
 */
export const isCurator = (
  { viewer, policies }: AccessContext,
  access: AccessKind = 'read',
): boolean =>
  !policies.showsUnreviewedRows &&
  viewer?.isCurator === true &&
  !missingScopeError(CATALOGUE_SCOPE_GROUP, access, { viewer });

/** Table that records who contributed a row, for public resources that accept contributions. */
export const contributorTableOf = (entity: Entity): string | undefined => {
  const { pendingColumnValues, table } = resourceOf(entity)!;

  return pendingColumnValues && `${table}_contributor`;
};

/** The contribution to which rows of an entity belong: the rows themselves, or their wholes. */
interface Contribution {
  root: Entity;
  contributorTable: string;
  rowIdSql(alias: string): string;
}

function contributionOf(entity: Entity): Contribution | undefined {
  const contributorTable = contributorTableOf(entity);

  if (!contributorTable) return contributionOfWhole(entity);

  return { root: entity, contributorTable, rowIdSql: (alias) => `${alias}."id"` };
}

function contributionOfWhole(entity: Entity): Contribution | undefined {
  const whole = resourceOf(entity)!.isOwned ? undefined : wholeOf(entity);
  const contribution = whole && contributionOf(whole.entity);

  if (!contribution) return undefined;
  const { column } = fieldOf(entity, whole.referenceFieldName);
  const { root, rowIdSql } = contribution;

  return {
    ...contribution,
    rowIdSql: (alias) =>
      root === whole.entity
        ? `${alias}."${column}"`
        : `(SELECT ${rowIdSql(`${alias}c`)} FROM "${resourceOf(whole.entity)!.table}" ${alias}c
            WHERE ${alias}c."id" = ${alias}."${column}")`,
  };
}

/** A subquery without references to the row is evaluated once per statement. */
const isOwnContribution =
  ({ contributorTable, rowIdSql }: Contribution, { id }: Viewer): SqlCondition =>
  (alias, bind) =>
    `${rowIdSql(alias)} IN (SELECT k."row_id" FROM "${contributorTable}" k WHERE k."${OWNER_FIELD.column}" = ${bind(id)})`;

/**
 * Hides rows that other users have contributed and that have not been accepted. The subquery is
 * evaluated once per statement. For NOT EXISTS, PostgreSQL would read the contributors for each row
 * if its statistics say that there are none.
 */
function withoutForeignContributions(
  contribution: Contribution | undefined,
  { viewer }: AccessContext,
): SqlCondition[] {
  if (!contribution) return [];
  const { contributorTable, rowIdSql } = contribution;

  return [
    (alias, bind) => `(${rowIdSql(alias)} IN (SELECT k."row_id" FROM "${contributorTable}" k
      WHERE k."${OWNER_FIELD.column}" IS DISTINCT FROM ${bind(viewer?.id ?? null)}::int)) IS NOT TRUE`,
  ];
}

/** Adds the viewer's own contributions, which are not accepted yet, to the rows that all see. */
function withOwnContributions(
  entity: Entity,
  conditions: SqlCondition[],
  { viewer }: AccessContext,
): SqlCondition[] {
  const contribution = viewer?.hasContributions ? contributionOf(entity) : undefined;

  if (!contribution || !conditions.length) return conditions;

  return [anyOf([allOf(conditions), isOwnContribution(contribution, viewer!)])];
}

/**
 * Restricts a statement to rows that the viewer can see: their own rows of an owned entity, or
 * published rows and own contributions of a public one. GraphQL also hides rows whose parent row
 * (`visibilityParentFieldName`) is hidden. Curators see all public rows. Retired rows are visible
 * in other rows only.
 */
export function visibleRowConditions(
  entity: Entity,
  context: AccessContext,
  includesRetiredRows = false,
): SqlCondition[] {
  const conditions = ownerConditions(entity, context);

  if (isCurator(context)) return conditions;

  if (resourceOf(entity)!.isForCurators) {
    const viewerId = context.viewer?.id ?? null;

    return [(alias, bind) => `${alias}."${OWNER_FIELD.column}" = ${bind(viewerId)}`];
  }

  const publishedRowConditions = columnValueConditions(
    resourceOf(entity)!.publishedColumnValues,
    includesRetiredRows ? RETIRED_COLUMN : undefined,
  );

  conditions.push(
    ...withOwnContributions(entity, publishedRowConditions, context),
    ...withoutForeignContributions(contributionOfWhole(entity), context),
  );

  const parentFieldName = resourceOf(entity)?.visibilityParentFieldName;

  if (parentFieldName && !context.policies.showsUnreviewedRows) {
    conditions.push(parentVisibleCondition(entity, parentFieldName, context, includesRetiredRows));
  }

  return conditions;
}

function parentVisibleCondition(
  entity: Entity,
  parentFieldName: string,
  context: AccessContext,
  includesRetiredRows: boolean,
): SqlCondition {
  const { column, target } = fieldOf(entity, parentFieldName);
  const { table } = resourceOf(target!())!;
  const conditions = visibleRowConditions(target!(), context, includesRetiredRows);

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
 * Whether the viewer can see every row of a public entity to which own rows refer, including rows
 * pending review, or every own row of an owned entity.
 */
export const maySeeAllReferencedRows = (entity: Entity, context: AccessContext): boolean =>
  context.policies.showsUnreviewedRows || isCurator(context) || !mayHaveHiddenRows(entity);

/**
 * Restricts a statement to rows that the viewer can see in references: also retired rows, and in
 * REST rows pending review.
 */
export const referencedRowConditions = (entity: Entity, context: AccessContext): SqlCondition[] =>
  maySeeAllReferencedRows(entity, context)
    ? ownerConditions(entity, context)
    : visibleRowConditions(entity, context, true);

/**
 * Restricts a statement to child rows that the viewer can see: in GraphQL also retired rows, which
 * are parts of retired ones.
 */
export const childRowConditions = (entity: Entity, context: AccessContext): SqlCondition[] =>
  visibleRowConditions(entity, context, !context.policies.showsUnreviewedRows);

/**
 * Restricts references in the viewer's input to permitted rows. In REST these include rows pending
 * review that no user has contributed. Triggers reject the others, too.
 */
export function referenceableRowConditions(
  entity: Entity,
  context: AccessContext,
  isReferredToByOwnedRow: boolean,
): SqlCondition[] {
  if (!maySeeAllReferencedRows(entity, context)) return visibleRowConditions(entity, context);
  const conditions = ownerConditions(entity, context);

  const contribution = contributionOf(entity);

  if (!contribution || (!isReferredToByOwnedRow && isCurator(context))) return conditions;
  const { table } = resourceOf(contribution.root)!;

  return [
    ...conditions,
    ...withoutForeignContributions(contribution, context),
    (alias) => `NOT EXISTS (SELECT FROM "${table}" m
      WHERE m."id" = ${contribution.rowIdSql(alias)} AND m."merged_into_id" IS NOT NULL)`,
  ];
}

/**
 * Whether foreign keys and triggers alone reject references to rows that the viewer may not
 * reference. True for owned tables, because their foreign keys include the owner, and for public
 * tables whose rows may all be referenced, except contributions, which triggers protect.
 */
export function constraintsEnforceAccess(entity: Entity, context: AccessContext): boolean {
  // Rejects anonymous clients and access tokens without the required scope.
  ownerConditions(entity, context);
  return maySeeAllReferencedRows(entity, context);
}

/**
 * Restricts a statement to rows that the viewer may update and delete: own rows, or own
 * contributions that are pending review, with their parts. Curators may change all public rows.
 */
export function writableRowConditions(entity: Entity, context: AccessContext): SqlCondition[] {
  requireScope(entity, 'write', context);
  if (resourceOf(entity)!.isOwned) return ownerConditions(entity, context);
  const { viewer } = context;

  if (!viewer) throw unauthenticatedError();
  if (isCurator(context, 'write')) return [];
  const contribution = contributionOf(entity);

  if (!contribution) throw forbiddenError();

  return [
    isOwnContribution(contribution, viewer),
    ...columnValueConditions(resourceOf(entity)!.pendingColumnValues),
  ];
}

/**
 * Rejects viewers who may not create, update or delete rows of the entity alone. Parts of
 * contributions are written together with them.
 */
export function requireWriter(entity: Entity, context: AccessContext): void {
  if (resourceOf(entity)!.isOwned || contributorTableOf(entity)) requireWriteScope(entity, context);
  else requireCurator(entity, context);
}

/** Rejects viewers who are no curators, and access tokens without the scope. */
export function requireCurator(entity: Entity, context: AccessContext): void {
  requireWriteScope(entity, context);
  if (!isCurator(context, 'write')) throw forbiddenError();
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
