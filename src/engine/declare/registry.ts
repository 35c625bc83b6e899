/**
 * Resource registry: the declared options of each resource, by its class. Resource files load in
 * any order, so read the registry only after all of them are loaded.
 */
import type {
  FilterMetadata,
  ApiName,
  ResourceMetadata,
  RestViewMetadata,
} from '../../shared/metadata';
import type { Context } from '../context';
import type { Entity } from './fields';
import type { Transaction } from '../../database/transaction';
import type { InputPath, IssueCode } from './errors';

export type FieldValues = Record<string, unknown>;

export interface RowWithValues {
  id: number;
  values: FieldValues;
}

interface PendingWrite {
  id?: number;
  input?: FieldValues;
  path?: InputPath;
}

/**
 * All hooks except `undoSideEffects` run in the transaction of the write, also for nested and bulk
 * writes.
 */
export interface WriteHooks {
  /**
   * Runs once at the start of a write transaction with all rows of the entity that it will write.
   * Rows have no `id` on creation and no `input` on deletion.
   */
  onTransactionStart?(
    rows: readonly PendingWrite[],
    context: Context,
    transaction: Transaction,
  ): Promise<void>;

  /**
   * Adds values derived from the request context without a database query. `id` is absent on
   * creation.
   */
  addDerivedValues?(values: FieldValues, context: Context, id?: number): void;

  /** Runs before each row is written and may change its values. `id` is absent on creation. */
  beforeRowWrite?(
    values: FieldValues,
    context: Context,
    transaction: Transaction,
    id?: number,
  ): Promise<void> | void;

  /** Runs once per statement, after its rows are written, with all rows in input order. */
  afterRowsWritten?(
    writtenRows: readonly RowWithValues[],
    context: Context,
    transaction: Transaction,
  ): Promise<void>;

  /**
   * Reverts side effects of `beforeRowWrite` outside the database, such as stored files, after the
   * transaction has failed.
   */
  undoSideEffects?(values: FieldValues, context: Context): Promise<void>;
}

const hooksByEntity = new Map<Entity, WriteHooks>();

export const registerHooks = (entity: Entity, entityHooks: WriteHooks): void =>
  void hooksByEntity.set(entity, entityHooks);
export const hooksOf = (entity: Entity): WriteHooks => hooksByEntity.get(entity) ?? {};

export interface CrossFieldRule {
  fields: readonly string[];
  message: string;

  /** Code of the violation. INVALID by default. */
  code?: IssueCode;

  /** Whether an input can violate the rule. Default: if it sets any of the fields. */
  isCausedBy?(input: FieldValues): boolean;

  /**
   * Whether a constraint or trigger of the database enforces the rule, so that a single row is
   * checked only after a violation. An input that can violate the rule sets all its fields.
   */
  isEnforcedByDatabase?: true;

  /**
   * Tells for each row whether it violates the rule. Only rows with values in all fields of the
   * rule are checked. Existing rows have an `id`.
   */
  violatedBy(rows: readonly FieldValues[], context: Context): boolean[] | Promise<boolean[]>;
}

export const OWNER_FIELD = { field: 'userId', column: 'user_id' } as const;

export type WriteOperation = 'create' | 'update' | 'remove';

export const CATALOGUE_SCOPE_GROUP = 'catalogue';

/**
 * Column of resources with `publishedColumnValues` that marks rows as retired: they are visible
 * only in rows that refer to them.
 */
export const RETIRED_COLUMN = 'is_retired';

/** An SQL condition on a row; `bind` returns the placeholder of a value. */
type RowCondition = (alias: string, bind: (value: unknown) => string) => string;

/** What a search by name prefers, besides the name itself. */
export interface SearchPreferences {
  /** Rows in a language of the viewer, if rows have a language. */
  inLanguage?: RowCondition;

  /** Rows that the viewer has used, which are found first. */
  used?: RowCondition;
}

export interface RestViewOptions extends Partial<Omit<RestViewMetadata, 'restName' | 'filters'>> {
  filters?: readonly (string | FilterMetadata)[];
}

/** Declares that a boolean field is true in at most one row per parent row. */
interface UniqueFlagConstraint {
  flagFieldName: string;
  parentFieldName: string;
}

export interface ResourceOptions extends RestViewOptions {
  /**
   * Name of the resource in REST URLs, `/api/v2/<name>/`. Without it, the resource is available in
   * GraphQL only.
   */
  restName?: string;
  description: string;

  /** Each row belongs to the user whose id is in `ownerColumn`. */
  isOwned?: boolean;

  /**
   * Resource group in scopes of access tokens (`src/accounts/access-tokens.ts`). Defaults to the
   * catalogue for public resources. REST restricts only resources that declare a group.
   */
  scopeGroup?: string;
  table?: string;

  /** Column that contains the id of the owner. Defaults to `user_id`. */
  ownerColumn?: string;

  /** Model name in data dumps of the reference service. */
  dumpModelName?: string;
  exclusiveTo?: ApiName;

  /** Needed if a field is `indexedForSearch`. */
  searchPreferences?: (context: Context) => SearchPreferences;

  /**
   * Adds queries for one row and for the list; `'rest'` means in REST only. Without these queries,
   * rows are read through relations of other rows. Defaults to true.
   */
  hasRootQueries?: boolean | 'rest';

  /**
   * Name of the mutation that updates the viewer's row of a resource with one row per user. The
   * mutation takes no id. The query `viewer` has a field for the row.
   */
  viewerMutationName?: string;

  /** Plural name in GraphQL. Defaults to the singular name with an appended `s`. */
  pluralName?: string;

  /** Fields of the default order, with `-` for descending. The id is the last criterion. */
  ordering?: readonly string[];

  /** Field paths whose values label a row that has no name of its own. See `ResourceMetadata`. */
  labelFieldPaths?: readonly string[];
  distinguishingFieldPath?: string;
  uniqueFields?: readonly string[];

  /**
   * Validation rules across fields. Not enforced in REST, because the reference service has none.
   */
  crossFieldRules?: readonly CrossFieldRule[];

  /**
   * A boolean field that a database constraint allows to be true in at most one row per parent row.
   */
  uniqueFlag?: UniqueFlagConstraint;

  /**
   * Fields of child rows that record what the user has done. GraphQL deletes a row that has any
   * only if the client asks for their deletion, too.
   */
  historyFieldNames?: readonly string[];

  /**
   * Column values of public rows that everyone can see. Clients see only the ids of other rows, in
   * references.
   */
  publishedColumnValues?: Readonly<Record<string, string | boolean>>;

  /**
   * Column values of public rows that are pending review. Their contributor (in
   * `<table>_contributor`) may change and delete them.
   */
  pendingColumnValues?: Readonly<Record<string, string>>;

  /**
   * Fields that distinguish the parts of one row. When two rows are merged, parts with equal values
   * become one.
   */
  partKeyFieldNames?: readonly string[];

  /** Parts that make up their row: when it is merged into another one, they do not move. */
  staysWithMergedRow?: true;

  /** Whether only curators see rows of other users. Rows of a user have `user_id`. */
  isForCurators?: boolean;

  /**
   * Reference to the parent row that determines visibility: a viewer who can see the parent row can
   * see this row.
   */
  visibilityParentFieldName?: string;

  /**
   * Supported mutations. Defaults to all. REST routes of public resources, which curators write,
   * are read-only unless `routes` says otherwise.
   */
  writeOperations?: readonly WriteOperation[];

  /**
   * Typical number of rows of a small public table. GraphQL returns the table as a plain list; REST
   * paginates it.
   */
  lookupTableSize?: number;

  /**
   * Adds bulk mutations, for resources of which offline clients or curators send many rows together.
   */
  hasBulkMutations?: boolean;

  /**
   * Keeps a small public table in memory. A database notification of a change makes the server read
   * it again.
   */
  isCachedInMemory?: boolean;

  /**
   * Adds a field `…Grouped` with statistics of groups of rows to each list of the resource. Rows
   * are grouped by their own fields and by these fields of referenced rows: group key names with
   * paths such as `exercise.category`.
   */
  groupKeyPaths?: Readonly<Record<string, string>>;
  views?: Readonly<Record<string, RestViewOptions>>;
}

/** Resource options with defaults applied, and public metadata. */
interface RegisteredResource extends ResourceOptions {
  isOwned: boolean;
  ownerColumn: string;
  table: string;
  singularName: string;
  pluralName: string;
  writeOperations: readonly WriteOperation[];
  ordering: readonly string[];
  metadata: ResourceMetadata;
}

const resourcesByEntity = new Map<Entity, RegisteredResource>();

export const registerResource = (entity: Entity, resource: RegisteredResource): void =>
  void resourcesByEntity.set(entity, resource);

export const resourceOf = (entity: Entity): RegisteredResource | undefined =>
  resourcesByEntity.get(entity);
export const allEntities = (): Entity[] => [...resourcesByEntity.keys()];
export const findEntity = (name: string): Entity | undefined =>
  allEntities().find((entity) => entity.name === name);
