/** Types of the GraphQL schema's `extensions`: metadata of types and fields, from which REST, forms and API docs are derived. */

export type FieldKind =
  | 'integer'
  | 'string'
  | 'boolean'
  | 'decimal'
  | 'date'
  | 'time'
  | 'datetime'
  | 'choice'
  | 'uuid'
  | 'url'
  | 'image'
  | 'relation'
  | 'computed';

export interface Choice {
  value: string | null;
  label: string | number;
}

/** One of the two interfaces. `extensions.exclusiveTo` restricts a field or a resource to it. */
export type ApiName = 'rest' | 'graphql';

/** `extensions.field`: metadata of a field for REST and GraphQL. */
export interface FieldMetadata {
  /** Name of the field in GraphQL. */
  readonly name: string;
  readonly restKey: string;
  readonly kind: FieldKind;
  readonly label: string;
  /** Help text in forms and in REST's response to OPTIONS. */
  readonly helpText?: string;
  /** Description in the API documentation; defaults to the help text. */
  readonly description: string;
  readonly allowNull: boolean;
  readonly allowBlank: boolean;
  readonly hasDefault: boolean;
  /** Default value of the field in new rows: a value, or a function that takes the server's time zone. */
  readonly default?: unknown;
  /** Whether REST omits the field from responses, OPTIONS and forms. GraphQL shows and accepts it. */
  readonly hiddenInRest: boolean;
  readonly exclusiveTo?: ApiName;
  readonly isHtml?: boolean;
  readonly readOnly: boolean;
  readonly restReadOnly: boolean;
  /** Whether REST, when it creates a row, ignores the value that the client sends for the field and stores the default value instead. */
  readonly restIgnoredOnCreate: boolean;
  /** Whether the field is a column of the resource's own table. */
  readonly isColumn: boolean;
  /** Whether REST can sort rows by the field. */
  readonly isSortable: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  /** Maximum number of digits of a decimal, including its decimal places. */
  readonly maxDigits?: number;
  readonly decimalPlaces?: number;
  readonly choices?: readonly Choice[];
  readonly relation?: {
    readonly typeName: string;
    /** GraphQL field that returns the referenced row, or the rows of a to-many relation. */
    readonly objectFieldName: string;
    readonly isToMany: boolean;
    /** Whether the referenced row belongs to a user. References to rows of other users are forbidden. */
    readonly isOwned: boolean;
  };
  /** Validates a value whose type is correct. Returns error messages; empty if valid. The time zone determines the current date. */
  check(value: unknown, timeZone: string): string[];
  /** Slow validation, such as decoding an image, of a value that passes `check`. Returns error messages; empty if valid. */
  checkAsync?(value: unknown): Promise<string[]>;
}

/** Whether a field is required on creation. Updates require no fields. */
export const isRequired = ({
  allowNull,
  hasDefault,
  allowBlank,
}: Pick<FieldMetadata, 'allowNull' | 'hasDefault' | 'allowBlank'>): boolean =>
  !allowNull && !hasDefault && !allowBlank;

/** Groups of resources to which the scope of an access token can be limited. */
export type ScopeGroup = 'account' | 'training' | 'nutrition' | 'body' | 'catalogue';

/**
 * A REST query parameter that filters a list by a field. Without `syntax` or `operator` it tests for equality, with a syntax that follows from the
 * field's kind.
 */
export interface FilterMetadata {
  /** Name of the query parameter; defaults to the REST key of the filtered field. */
  parameterName?: string;
  /** GraphQL name of the filtered field. */
  field: string;
  /**
   * Syntax of the parameter. `ids`: the parameter can be repeated, and rows match any of the ids. `loose`: an integer; any other value is ignored.
   * `commaIds`: comma-separated integers; a row that matches several is returned once for each; ignored if one is invalid. `unchecked`: an id whose
   * existence is not validated.
   */
  syntax?: 'ids' | 'loose' | 'commaIds' | 'unchecked';
  /**
   * Comparison operator of a REST filter, instead of equality. The name of the query parameter ends in it (`date__gte`). Only for resources that the
   * reference service (wger) does not have.
   */
  operator?: ComparisonOperator;
}

export const COMPARISON_OPERATORS = ['gt', 'gte', 'lt', 'lte'] as const;
export type ComparisonOperator = (typeof COMPARISON_OPERATORS)[number];

/** Kinds of fields that REST filters can compare with an operator such as `gte`. */
export const COMPARABLE_KINDS: readonly FieldKind[] = ['integer', 'decimal', 'date'];

export const filterParameterName = (
  { parameterName, operator }: FilterMetadata,
  { restKey }: Pick<FieldMetadata, 'restKey'>,
): string => parameterName ?? (operator ? `${restKey}__${operator}` : restKey);

/** A REST resource that serves rows of a GraphQL type. A selection set defines the response body; its aliases are the JSON keys. */
export interface RestViewMetadata {
  restName: string;
  /** Name of the REST view in its response to OPTIONS, such as `Weight Entry`. */
  title: string;
  description: string;
  /** GraphQL selection set of the response body; by default derived from the fields. */
  graphqlSelection?: string;
  filters: readonly FilterMetadata[];
  /** Position of the view in the API root. Views without a position follow, sorted by name. */
  apiRootPosition?: number;
  isListedInApiRoot?: boolean;
  /** Operations that the REST view supports: reads only, or reads and writes. If a GraphQL type has several views, only the first one accepts writes. */
  routes: 'read' | 'all';
  /** HTTP methods that pass the permission check; defaults to all. Other methods are answered with 403, even those that the view does not support. */
  permittedMethods?: readonly string[];
}

/** `extensions.resource` of an object type: metadata of a resource for REST and GraphQL. */
export interface ResourceMetadata {
  readonly isOwned: boolean;
  readonly exclusiveTo?: ApiName;
  /** Access-token scope group; only for resources that users own or contribute to. */
  readonly scopeGroup?: ScopeGroup;
  readonly rowQueryName: string;
  readonly listQueryName: string;
  readonly createMutationName?: string;
  readonly updateMutationName?: string;
  readonly deleteMutationName?: string;
  readonly bulkCreateMutationName?: string;
  readonly bulkUpdateMutationName?: string;
  readonly bulkDeleteMutationName?: string;
  /** Field that contains the row version for optimistic locking. If present, updates and deletions take `ifVersion`. */
  readonly versionFieldName?: string;
  readonly views: readonly RestViewMetadata[];
  /** Default order: field names, prefixed by `-` if descending. Ties are broken by id. */
  readonly ordering: readonly string[];
  /**
   * Typical number of rows if the resource is a small lookup table. Lists that are sorted by a reference to a lookup table use the default order of that
   * table.
   */
  readonly lookupTableSize?: number;
  /**
   * Field paths that form the display name of a row; defaults to `name`. If a list is on the path, only its first row is used, or all its rows if its name ends
   * in `[]`.
   */
  readonly labelFieldPaths?: readonly string[];
  /** Path of the field that distinguishes rows with the same display name. */
  readonly distinguishingFieldPath?: string;
}

/** How REST renders the value of a GraphQL field as a response body. */
export interface ResponseBodyMetadata {
  /** GraphQL selection set of the value; by default derived from the field's type. */
  readonly graphqlSelection?: string;
  /** Key of a JSON object in which REST wraps the value. If the value is null, the object is empty. */
  readonly wrapperKey?: string;
  /** Keys whose values are lists of `{ key value }` objects. REST renders each such list as one JSON object. */
  readonly keyValueListKeys?: readonly string[];
  /** Response body that is sent with status 200 if a required argument is missing or empty. Without this option, the status is 400. */
  readonly bodyWhenArgumentMissing?: string;
  /**
   * Response body that is sent with status 200 if arguments are invalid; their error messages are added under `errors`. Without this option, the status
   * is 400.
   */
  readonly bodyWhenArgumentsInvalid?: Readonly<Record<string, unknown>>;
}

/** `extensions.action` of a resource's field: `GET /<resource>/<id>/<name>/`, with the field's arguments as query parameters. */
export interface ActionMetadata extends ResponseBodyMetadata {
  readonly name: string;
  /** Name of the action in its response to OPTIONS; by default the words of its property `name`. */
  readonly title?: string;
}

/** `extensions.endpoint` of a query field: REST paths outside of resources, with the field's arguments as query parameters. */
export interface EndpointMetadata extends ResponseBodyMetadata {
  readonly paths: readonly string[];
  readonly title: string;
}

/** Validators of the arguments of a field, by argument name. Each receives a value whose type is correct and returns error messages; empty if valid. */
export type ArgumentValidators = Readonly<Record<string, (value: string) => string[]>>;

/* eslint-disable @typescript-eslint/no-explicit-any -- merged interface declarations must have identical type parameters, and the arguments of each field another type */
declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs = any> {
    field?: FieldMetadata;
    action?: ActionMetadata;
    endpoint?: EndpointMetadata;
    argumentValidators?: ArgumentValidators;
    exclusiveTo?: ApiName;
    /**
     * Cost of the field itself, added once per parent object to the cost of what the field returns (`@cost` of
     * https://ibm.github.io/graphql-specs/cost-spec.html).
     */
    cost?: { readonly weight: number };
    /** Field of the row with the ids of the objects in this list. */
    idsField?: string;
    /** Expected length of a list without pagination (`@listSize` of the GraphQL cost specification), or a function of the arguments. */
    listSize?: { readonly assumedSize: number | ((args: any) => number) };
    /** Resolver that returns all rows of a small resource. In the schema for clients, a plain list of these rows replaces the connection. */
    resolveAllRows?(source: unknown, args: unknown, context: unknown, info: unknown): unknown;
    /** Whether the mutation only writes rows and can therefore be part of an `@atomic` operation. */
    onlyWritesRows?: boolean;
    /** Whether an operation may contain the field at most once, because it is slow, or checks or changes credentials, such as a sign-in. */
    oncePerOperation?: boolean;
    /** Whether the field is null only if GraphQL hides a row that is pending review. REST shows such rows, so the field is never null in REST. */
    neverNullInRest?: boolean;
  }
  interface GraphQLInputFieldExtensions {
    field?: FieldMetadata;
    exclusiveTo?: ApiName;
  }
  interface GraphQLInputObjectTypeExtensions {
    oneOf?: boolean;
  }
  interface GraphQLScalarTypeExtensions {
    codegenScalarType?: string;
  }
  interface GraphQLObjectTypeExtensions<_TSource = any, _TContext = any> {
    resource?: ResourceMetadata;
    decimalsAsNumbersInRest?: boolean;
  }
}
/* eslint-enable @typescript-eslint/no-explicit-any */
