/** The contract between resources and interfaces: what `extensions` of the GraphQL schema hold. REST, forms and docs read nothing else. */

export type Kind =
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

/** `extensions.only`: the one interface whose schema has the field. Everything else is in both. */
export type Only = 'rest' | 'graphql';

/** `extensions.field`: what is true of a field, whatever interface shows it. */
export interface FieldFact {
  /** Name in GraphQL. */
  readonly name: string;
  /** Key in REST. */
  readonly rest: string;
  readonly kind: Kind;
  readonly label: string;
  /** Help text that REST shows. */
  readonly help?: string;
  /** Documentation, or the help text where there is none. */
  readonly description: string;
  readonly null: boolean;
  /** May be an empty text. */
  readonly blank: boolean;
  readonly hasDefault: boolean;
  /** What is stored of a new row that does not say; a function tells it of the zone of the server. */
  readonly default?: unknown;
  /** REST neither shows nor accepts it; GraphQL does both. */
  readonly hidden: boolean;
  readonly only?: Only;
  readonly readOnly: boolean;
  readonly restReadOnly: boolean;
  /** REST drops the value on creation, so that the default is stored. */
  readonly restIgnoredOnCreate: boolean;
  /** A column of the resource's own table. */
  readonly stored: boolean;
  /** REST can order by it. */
  readonly ordered: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  readonly digits?: number;
  readonly places?: number;
  readonly choices?: readonly Choice[];
  readonly relation?: {
    /** GraphQL type of the other side, and the field that shows it. */
    readonly type: string;
    readonly object: string;
    readonly many: boolean;
    /** The other side belongs to a user, so naming another user's row is forbidden. */
    readonly owned: boolean;
  };
  /** Messages for a value of the right type; none means that it is good. The zone decides what day it is. */
  check(value: unknown, timeZone: string): string[];
  /** Further messages for a value that passes `check`, which take longer to find. */
  inspect?(value: unknown): Promise<string[]>;
}

/** Whether a new row has to say it; one that is changed never has to. */
export const isRequired = ({ null: optional, hasDefault, blank }: Pick<FieldFact, 'null' | 'hasDefault' | 'blank'>): boolean =>
  !optional && !hasDefault && !blank;

/** What belongs together for those who let others have some of it: access tokens are for such groups. */
export type Group = 'account' | 'training' | 'nutrition' | 'body' | 'catalogue';

/** How REST turns a query parameter into a condition, where the kind of the field does not say it all. */
export interface FilterFact {
  /** The query parameter; the field's REST key if absent. */
  key?: string;
  /** GraphQL name of the field. */
  field: string;
  /**
   * `ids`: repeated keys, any of them; `loose`: an integer, anything else is ignored;
   * `commaIds`: integers with commas, a row for each match, ignored as a whole if one is bad;
   * `unchecked`: an integer, whether or not such a row exists.
   */
  parse?: 'ids' | 'loose' | 'commaIds' | 'unchecked';
}

/** A REST name of a type. The selection set is the body: aliases name the keys. */
export interface ViewFact {
  rest: string;
  /** Words of the OPTIONS name, e.g. `Weight Entry`. */
  title: string;
  description: string;
  /** Absent: derived from the fields. */
  selection?: string;
  filters: readonly FilterFact[];
  /** Place in the root's list, as clients know it; absent: after those that have one, by its name. */
  position?: number;
  /** False: the root says nothing of it. */
  listed?: boolean;
  /** Only the first view of a type is written through. */
  routes: 'read' | 'all';
  /** Methods that the permission lets through; others are 403 before they are 405. Absent: all. */
  permits?: readonly string[];
}

/** `extensions.resource` of an object type. */
export interface ResourceFact {
  readonly owned: boolean;
  readonly only?: Only;
  /** Of what somebody owns or adds. */
  readonly group?: Group;
  /** Query and mutation fields. */
  readonly one: string;
  readonly many: string;
  readonly create?: string;
  readonly update?: string;
  readonly remove?: string;
  /** The same for many rows at once, where a resource has such mutations. */
  readonly createMany?: string;
  readonly updateMany?: string;
  readonly removeMany?: string;
  /** The field that tells one state of a row from all others; then updates and deletions of one row take `ifVersion`. Absent: there is none. */
  readonly version?: string;
  readonly views: readonly ViewFact[];
  /** Default order, `-` before a field that runs downwards; the id decides last. */
  readonly ordering: readonly string[];
  /** Other rows are ordered by it as a whole, which is by its default order. */
  readonly dictionary?: boolean;
  /** Paths of fields that together name a row; absent: its own name. Of the rows of a list on the way the first counts, after `[]` all. */
  readonly names?: readonly string[];
  /** The path of what tells rows apart that are called alike. */
  readonly apart?: string;
}

/** How REST shows the value of a field as a body. */
export interface BodyFact {
  /** Absent: derived from the field's type. */
  readonly selection?: string;
  /** The body is an object with the value under this key, an empty one if the value is null. */
  readonly key?: string;
  /** Keys of the value whose list of `{ key value }` is shown as one object. */
  readonly maps?: readonly string[];
  /** The whole body where a required argument is missing or empty, whatever the row; 200. Absent: 400. */
  readonly whenMissing?: string;
  /** Invalid arguments are answered with 200, this body and the messages under `errors`. Absent: 400. */
  readonly whenInvalid?: Readonly<Record<string, unknown>>;
}

/** `extensions.action` of a field of a resource: `GET /<resource>/<id>/<name>/`, its arguments the query's parameters. */
export interface ActionFact extends BodyFact {
  readonly name: string;
  /** The name in OPTIONS; the words of the name if absent. */
  readonly title?: string;
}

/** `extensions.endpoint` of a query field: paths of its own, its arguments the query's parameters. */
export interface EndpointFact extends BodyFact {
  readonly paths: readonly string[];
  readonly title: string;
}

/** `extensions.limits`: of the arguments of a field, messages for a value of the right type; none means that it is good. */
export type ArgumentLimits = Readonly<Record<string, (value: string) => string[]>>;

/* eslint-disable @typescript-eslint/no-explicit-any -- what is added to an interface must repeat its parameters as they are */
declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs = any> {
    field?: FieldFact;
    action?: ActionFact;
    endpoint?: EndpointFact;
    limits?: ArgumentLimits;
    only?: Only;
    /** What a value costs beside the objects that it consists of (`@cost` of IBM's cost directives). */
    cost?: { readonly weight: number };
    /** How many values a list has, where no page is asked for (`@listSize`); a function tells it of the arguments. */
    listSize?: { readonly assumedSize: number | ((args: any) => number) };
    /** Resolves all rows of the connection at once: the public schema has them as a list. */
    wholeList?: (source: unknown, args: unknown, context: any, info: any) => unknown;
    /** Writes rows and does nothing beside that, so that it may be part of an `@atomic` operation. */
    writesRows?: boolean;
    /** May stand once in an operation, because it takes long or is a try of something. */
    once?: boolean;
    /** Null stands for what only GraphQL hides. */
    neverNullInRest?: boolean;
  }
  interface GraphQLInputFieldExtensions {
    field?: FieldFact;
    only?: Only;
  }
  interface GraphQLInputObjectTypeExtensions {
    /** Exactly one of its fields is given. */
    oneOf?: boolean;
  }
  interface GraphQLScalarTypeExtensions {
    /** The type that code generators for TypeScript give its values. */
    codegenScalarType?: string;
  }
  interface GraphQLObjectTypeExtensions<_TSource = any, _TContext = any> {
    resource?: ResourceFact;
    /** REST shows its decimals as numbers. */
    numbersInRest?: boolean;
  }
}
/* eslint-enable @typescript-eslint/no-explicit-any */
