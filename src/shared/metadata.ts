/**
 * Types of the GraphQL schema's `extensions`: metadata of types and fields from which REST, forms
 * and API docs are derived.
 */

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

  /** Default value in new rows, or a function that computes it from the server's time zone. */
  readonly default?: unknown;

  /** Omits the field from REST's responses, OPTIONS and forms. GraphQL still has it. */
  readonly hiddenInRest: boolean;

  /**
   * Omits the field from HTML pages, because Fitgraph does not use it or another field shows the
   * same. Pages have some fields that REST hides, such as the unit of a weight.
   */
  readonly hiddenOnPages: boolean;
  readonly exclusiveTo?: ApiName;
  readonly isHtml?: boolean;
  readonly readOnly: boolean;
  readonly restReadOnly: boolean;

  /** Excludes the field from the forms of HTML pages. */
  readonly pageReadOnly: boolean;

  /** Makes REST store the default value in new rows, whatever the client sends. */
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
    readonly relationFieldName: string;
    readonly isToMany: boolean;

    /**
     * Whether the referenced row belongs to a user. References to rows of other users are
     * forbidden.
     */
    readonly isOwned: boolean;
  };

  /**
   * Validates a value of the correct type and returns error messages. The time zone determines the
   * current date.
   */
  check(value: unknown, timeZone: string): string[];

  /**
   * Slow validation of a value that passes `check`, such as decoding an image. Returns error
   * messages.
   */
  checkAsync?(value: unknown): Promise<string[]>;
}

/** Whether a field is required on creation. Updates require no fields. */
export const isRequired = ({
  allowNull,
  hasDefault,
  allowBlank,
}: Pick<FieldMetadata, 'allowNull' | 'hasDefault' | 'allowBlank'>): boolean =>
  !allowNull && !hasDefault && !allowBlank;

/**
 * A REST query parameter that filters a list by a field. By default it tests for equality, with a
 * syntax that follows from the kind of field.
 */
export interface FilterMetadata {
  /** Name of the query parameter; defaults to the REST key of the field. */
  parameterName?: string;

  /** GraphQL name of the filtered field. */
  field: string;

  /**
   * Syntax of the parameter. `ids`: repeatable; rows match any of the ids. `loose`: an integer;
   * other values are ignored. `commaIds`: comma-separated ids; a row appears once for each match;
   * ignored if an id is invalid. `unchecked`: an id that need not exist.
   */
  syntax?: 'ids' | 'loose' | 'commaIds' | 'unchecked';

  /**
   * Comparison operator instead of equality. The name of the query parameter ends in it
   * (`date__gte`). Only for resources without `inReference`.
   */
  operator?: ComparisonOperator;
}

export const COMPARISON_OPERATORS = ['gt', 'gte', 'lt', 'lte'] as const;
export type ComparisonOperator = (typeof COMPARISON_OPERATORS)[number];

/** Kinds of fields that REST filters can compare by operators such as `gte`. */
export const COMPARABLE_KINDS: readonly FieldKind[] = ['integer', 'decimal', 'date'];

export const filterParameterName = (
  { parameterName, operator }: FilterMetadata,
  { restKey }: Pick<FieldMetadata, 'restKey'>,
): string => parameterName ?? (operator ? `${restKey}__${operator}` : restKey);

/**
 * A REST resource that serves rows of a GraphQL type. The response body is a GraphQL selection
 * whose aliases are the JSON keys.
 */
export interface RestViewMetadata {
  restName: string;

  /** Name of the REST view in its response to OPTIONS, such as `Weight Entry`. */
  title: string;
  description: string;

  /** GraphQL selection set of the response body; by default derived from the fields. */
  graphqlSelection?: string;
  filters: readonly FilterMetadata[];

  /**
   * Present if the reference service has the resource. `apiRootPosition` is the position of the
   * resource in the API root; without it, the root does not list the resource. Resources that only
   * Fitgraph has come last, sorted by name.
   */
  inReference?: { apiRootPosition?: number };

  /**
   * Whether the REST view supports only reads, or also writes. Only the first view of a GraphQL
   * type accepts writes.
   */
  routes: 'read' | 'all';

  /**
   * HTTP methods for writing that pass the permission check; defaults to all. Any other is answered
   * with 403, even if the view does not support it.
   */
  permittedMethods?: readonly string[];
}

/** `extensions.resource` of an object type: metadata of a resource for REST and GraphQL. */
export interface ResourceMetadata {
  readonly isOwned: boolean;
  readonly exclusiveTo?: ApiName;

  /**
   * Group of resources to which the scope of an access token can be limited. Only for resources
   * that users own or contribute to.
   */
  readonly scopeGroup?: string;
  readonly rowQueryName: string;
  readonly listQueryName: string;
  readonly createMutationName?: string;
  readonly updateMutationName?: string;
  readonly deleteMutationName?: string;
  readonly bulkCreateMutationName?: string;
  readonly bulkUpdateMutationName?: string;
  readonly bulkDeleteMutationName?: string;

  /**
   * Field with the row version for optimistic locking. If present, updates and deletions have an
   * argument `ifVersion`.
   */
  readonly versionFieldName?: string;

  /** Connections with rows that record what the user has done, which a deletion removes, too. */
  readonly historyFieldNames?: readonly string[];
  readonly views: readonly RestViewMetadata[];

  /** Default order: field names, with the prefix `-` if descending. Ties are broken by id. */
  readonly ordering: readonly string[];

  /**
   * Typical number of rows of a small lookup table. Lists that are sorted by a reference to the
   * table use the table's default order.
   */
  readonly lookupTableSize?: number;

  /**
   * Field paths that form the display name of a row; defaults to `name`. A list on the path
   * contributes its first row, or all its rows if its name ends in `[]`.
   */
  readonly labelFieldPaths?: readonly string[];

  /** Path of a field that distinguishes rows with the same display name. */
  readonly distinguishingFieldPath?: string;
}

/** How REST renders a GraphQL field as a response body. */
export interface ResponseBodyMetadata {
  /** GraphQL selection set of the field; by default derived from its type. */
  readonly graphqlSelection?: string;

  /** Key of a JSON object in which REST wraps the value. A null value yields an empty object. */
  readonly wrapperKey?: string;

  /** Keys of lists of `{ key value }` objects, each of which REST renders as one JSON object. */
  readonly keyValueListKeys?: readonly string[];

  /** Response body, with status 200 instead of 400, if a required argument is missing or empty. */
  readonly bodyWhenArgumentMissing?: string;

  /**
   * Response body, with status 200 instead of 400, if arguments are invalid. The error messages are
   * added under `errors`.
   */
  readonly bodyWhenArgumentsInvalid?: Readonly<Record<string, unknown>>;
}

/**
 * `extensions.action` of a resource's field: `GET /<resource>/<id>/<name>/` with the field's
 * arguments as query parameters.
 */
export interface ActionMetadata extends ResponseBodyMetadata {
  readonly name: string;

  /** Title of the action in its response to OPTIONS; by default the words of `name`. */
  readonly title?: string;

  /** Hides the link to the action from HTML pages, because only programs can use its response. */
  readonly hiddenOnPages?: true;
}

/**
 * `extensions.endpoint` of a query field: a REST endpoint outside of resources, with the field's
 * arguments as query parameters.
 */
export interface EndpointMetadata extends ResponseBodyMetadata {
  readonly paths: readonly string[];
  readonly title: string;
}

/**
 * Validators by argument name. Each receives a value of the correct type and returns error
 * messages.
 */
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
     * Cost of the field itself per parent object, in addition to the cost of what it returns
     * (`@cost` of https://ibm.github.io/graphql-specs/cost-spec.html).
     */
    cost?: { readonly weight: number };

    /** Description in REST, where related fields have other names. Defaults to the description. */
    restDescription?: string;

    /** Field of the parent row with the ids of the objects in this list. */
    idsField?: string;

    /**
     * Expected length of a list without pagination (`@listSize` of the GraphQL cost specification),
     * possibly as a function of the arguments.
     */
    listSize?: { readonly assumedSize: number | ((args: any) => number) };

    /**
     * Resolver of all rows of a small resource. If present, the field is a plain list instead of a
     * connection in the schema for clients.
     */
    resolveAllRows?(source: unknown, args: unknown, context: unknown, info: unknown): unknown;

    /** Whether no argument of the field can be invalid, so that it need not be nullable. */
    acceptsAnyArguments?: boolean;

    /** Whether the mutation only writes rows, so that an `@atomic` operation may contain it. */
    onlyWritesRows?: boolean;

    /**
     * Whether an operation may contain the field only once, because it is slow or handles
     * credentials.
     */
    oncePerOperation?: boolean;

    /**
     * Whether the field describes the state that the other fields of the operation read, so that it
     * must not be newer than they are.
     */
    describesReadState?: boolean;

    /**
     * Whether the field is null only for rows that are pending review. GraphQL hides such rows, but
     * REST shows them.
     */
    neverNullInRest?: boolean;
  }
  interface GraphQLInputFieldExtensions {
    field?: FieldMetadata;
    exclusiveTo?: ApiName;

    /** Whether the schema for GraphQL clients requires the nullable field. */
    isOnlyRequiredInGraphQL?: boolean;
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
