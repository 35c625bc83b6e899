/** A field is said once: one decorator makes the column, the GraphQL field and the facts that every interface reads. */
import { Extensions, Field, ID, Int } from 'type-graphql';
import { literal, type DataType as SqlType } from 'sequelize';
import { Column, DataType, type Model } from 'sequelize-typescript';
import type { GraphQLScalarType } from 'graphql';
import type { Choice, FieldFact, Kind, Only } from '../../contract/facts';
import type { Choices, Enum } from './choices';
import { today, now } from './clock';
import { mistakesOf } from './limits';
import { invalidValue, type Mistake } from './mistakes';
import { snake } from '../../contract/casing';
import { label } from './inflection';
import { DateScalar, DateTimeScalar, DecimalScalar, TimeScalar, UploadScalar } from './scalars';

/** A resource's class; a thunk, because resources refer to each other. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any of them, and each of them is one: the parameter stands on both sides of methods
export type Entity<M = any> = (new () => M) & { name: string };
/** A row of a resource with all its fields, and without the methods of its model and the rows that hang below it. */
export type RowOf<M> = { [K in Exclude<keyof M, Exclude<keyof Model, 'id'>> as M[K] extends Model[] ? never : K]: M[K] };
export type PartOf<M, F extends keyof RowOf<M>> = Pick<RowOf<M>, F>;
export type Lazy<T = Entity> = () => T;

/** The alias of the row's own table in every planned statement. */
export type Expression = (alias: string) => string;

export interface Through {
  table: string;
  /** The column of this table that holds the other row's id. */
  via: string;
  column: string;
}

/** A link table between `via` of this table (its id if absent) and ids of the other side. */
export interface Link {
  table: string;
  own: string;
  other: string;
  via?: string;
  /** Columns of the link table that hold these values in every link of this kind. */
  fixed?: Readonly<Record<string, boolean>>;
}

/** The condition that a link is of its kind, for the alias of the link table. */
export const ofKind = ({ fixed = {} }: Link, alias: string): string =>
  Object.entries(fixed)
    .map(([column, value]) => ` AND ${alias}."${column}" = ${value}`)
    .join('');

export interface FieldOptions<N extends boolean = boolean> {
  label?: string;
  help?: string;
  /** Documentation beside REST's help text, or where there is none. */
  note?: string;
  /** What GraphQL says instead of the note. */
  about?: string;
  /** May be null in the database, and absent or null on input. */
  null?: N;
  /** Stored when a creation leaves it out. A function gets the server's zone. */
  default?: unknown | ((timeZone: string) => unknown);
  /** Of a reference with a default: what GraphQL says of an absent value in place of the id. */
  absent?: string;
  /** A trigger of the table decides what GraphQL stores where a creation leaves it out; REST stores `default`. */
  byTriggerInGraphQL?: boolean;
  /** Key in REST and column of the database where they are not the snake-case name. */
  storedAs?: string;
  /** Key in REST where that alone is another one. */
  rest?: string;
  /** Column of the database where that alone is another one. */
  column?: string;
  hidden?: boolean;
  /** REST's rows have it only by way of their parent, and cannot be ordered by it. */
  inherited?: boolean;
  /** The one interface that has the field. */
  only?: Only;
  /** `'rest'`: accepted by GraphQL only. */
  readOnly?: boolean | 'rest';
  restIgnoredOnCreate?: boolean;
  /** Stored by the database itself, whoever writes the row. */
  automatic?: boolean;
  /** Not stored but worked out in SQL, in the row's own statement. */
  sql?: Expression;
  /** Of a reference that is worked out: the columns that have the same values in both rows. */
  shares?: readonly string[];
  /** A column of the row that `via` names: shown and filtered as if it stood here. */
  through?: Through;
  /** A copy in which all cases are one, with an index over its trigrams, is kept beside the column, as `<column>_folded`; its words as `<column>_words`. */
  searched?: boolean;
  /** Of a public text in a large table: an index keeps it in the order that a reader expects too, as GraphQL lists it. */
  sorted?: boolean;
  /** Further checks of a good value. */
  check?: (value: unknown, timeZone: string) => string[];
  /** Checks that take time, of a value that has passed all others. */
  inspect?: (value: unknown) => Promise<string[]>;
}

export interface FieldMeta extends FieldFact {
  /** Database column; absent when worked out or kept in a link table. */
  column?: string;
  sql?: Expression;
  shares?: FieldOptions['shares'];
  through?: Through;
  searched?: boolean;
  sorted?: boolean;
  automatic?: boolean;
  default?: FieldOptions['default'];
  absent?: string;
  byTriggerInGraphQL?: boolean;
  mistakes(value: unknown, timeZone: string): Mistake[];
  type: () => GraphQLScalarType | typeof String | typeof Boolean | Enum['type'];
  about: string;
  enum?: Enum;
  /** What is written, where it is not what is shown. */
  input?: () => GraphQLScalarType;
  /** The other side of a relation, and the GraphQL field that shows it. */
  target?: Lazy;
  object?: string;
  link?: Link;
  sequelizeType?: SqlType;
}

export interface ChildMeta {
  name: string;
  target: Lazy;
  /** The field of the child that names this row, and the field of this row that it names. */
  by: string;
  key: string;
  connection: boolean;
  /** How many there are, most often, of those without pages. */
  size?: number;
  part: boolean;
  /** Never made together with this row: which row they hang below is worked out. */
  readOnly: boolean;
  order: string[];
  description: string;
}

/** The children that are saved with their row. */
export const partsOf = (entity: Entity): readonly ChildMeta[] => childrenOf(entity).filter(({ part }) => part);

export const groupedName = ({ name }: ChildMeta): string => `${name}Grouped`;

const fields = new Map<object, FieldMeta[]>();
const children = new Map<object, ChildMeta[]>();
export const addChild = (entity: Entity, child: ChildMeta): void => void children.set(entity, [...childrenOf(entity), child]);

/** The fields of a resource, in the order they are written, which is REST's. */
export const fieldsOf = (entity: Entity): readonly FieldMeta[] => fields.get(entity) ?? [];
export const childrenOf = (entity: Entity): readonly ChildMeta[] => children.get(entity) ?? [];
export const fieldOf = (entity: Entity, name: string): FieldMeta => {
  const found = fieldsOf(entity).find((field) => field.name === name);
  if (!found) throw new Error(`${entity.name} has no field ${name}`);
  return found;
};

const SQL_TYPES: Partial<Record<Kind, string>> = {
  integer: 'int',
  relation: 'int',
  decimal: 'numeric',
  date: 'date',
  time: 'time',
  datetime: 'timestamptz',
  boolean: 'boolean',
  uuid: 'uuid',
};

export const sqlType = ({ kind }: { kind: Kind }): string => SQL_TYPES[kind] ?? 'text';

/** A decorator for a property of exactly this type: the compiler compares the two, null included. */
export type Typed<V> = <K extends string, T extends Record<K, V>>(target: T & ([V] extends [T[K]] ? unknown : never), property: K) => void;
export type OrNull<V, O> = O extends { null: true } ? V | null : V;

interface Facts extends FieldOptions {
  minLength?: number;
  maxLength?: number;
  min?: number;
  max?: number;
  digits?: number;
  places?: number;
  blank?: boolean;
  choices?: readonly Choice[];
  enum?: Enum;
  relation?: FieldFact['relation'];
  target?: Lazy;
  object?: string;
  link?: Link;
  input?: FieldMeta['input'];
}

/** What the database stores where nobody gives a value. What is worked out for each row the database knows only if it is the moment. */
function storedDefault({ default: given, automatic, blank, null: optional, kind }: FieldMeta): unknown {
  if (automatic || given === defaults.now) return literal('now()');
  if (typeof given === 'function') return undefined;
  return given ?? (kind === 'string' && blank && !optional ? '' : undefined);
}

export function define(kind: Kind, type: FieldMeta['type'], sequelizeType: SqlType | undefined, options: Facts, list = false) {
  return (prototype: object, name: string): void => {
    const entity = prototype.constructor as Entity;
    const derived = Boolean(options.sql ?? options.through ?? options.link?.via);
    const stored = !derived && !options.link;
    const description = options.note ?? options.help ?? `${options.label ?? label(options.object ?? name)}.`;
    const meta: FieldMeta = {
      ...options,
      name,
      kind,
      type,
      rest: options.rest ?? options.storedAs ?? snake(options.object ?? name),
      label: options.label ?? label(options.object ?? name),
      description,
      about: options.about ?? description,
      null: options.null ?? false,
      blank: options.blank ?? false,
      hasDefault: options.default !== undefined,
      hidden: options.hidden ?? false,
      readOnly: options.readOnly === true || derived,
      restReadOnly: options.readOnly !== undefined || options.hidden === true || derived,
      restIgnoredOnCreate: options.restIgnoredOnCreate ?? false,
      stored,
      ordered: stored && !options.inherited,
      ...(stored && { column: options.column ?? options.storedAs ?? snake(name) }),
      sequelizeType,
      mistakes: (value, timeZone) => {
        const found = mistakesOf(value, meta);
        return found.length || value == null ? found : (options.check?.(value, timeZone) ?? []).map(invalidValue);
      },
      check: (value, timeZone) => meta.mistakes(value, timeZone).map(({ message }) => message),
    };
    fields.set(entity, [...fieldsOf(entity), meta]);
    if (stored)
      Column({ type: sequelizeType, allowNull: meta.null, field: meta.column, defaultValue: storedDefault(meta) })(prototype, name);
    Field(() => (list ? [type()] : type()), { nullable: meta.null, description: meta.about })(prototype, name);
    Extensions({ field: meta })(prototype, name);
  };
}

export const Id = (): Typed<number> => (prototype: object, name: string) => {
  define('integer', () => ID, DataType.INTEGER, { label: 'ID', note: 'Identifies the row among those of its type.', readOnly: true })(
    prototype,
    name,
  );
  Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true, autoIncrementIdentity: true, field: 'id' })(prototype, name);
};

/** `max` in characters. Surrounding blanks are trimmed. */
export const Text = <const O extends FieldOptions & { min?: number; max?: number; blank?: boolean }>(
  o: O = {} as O,
): Typed<OrNull<string, O>> => {
  const { min, max, ...options } = o;
  return define('string', () => String, max ? DataType.STRING(max) : DataType.TEXT, { ...options, minLength: min, maxLength: max });
};
export const Url = <const O extends FieldOptions & { max: number; blank?: boolean }>(o: O): Typed<OrNull<string, O>> => {
  const { max, ...options } = o;
  return define('url', () => String, DataType.STRING(max), { ...options, maxLength: max });
};
export const Uuid = <const O extends FieldOptions>(o: O = {} as O): Typed<OrNull<string, O>> =>
  define('uuid', () => String, DataType.UUID, { label: 'UUID', ...o });
export const Flag = <const O extends FieldOptions>(o: O = {} as O): Typed<OrNull<boolean, O>> =>
  define('boolean', () => Boolean, DataType.BOOLEAN, o);
export const Whole = <const O extends FieldOptions & { min?: number; max?: number }>(o: O = {} as O): Typed<OrNull<number, O>> =>
  define('integer', () => Int, DataType.INTEGER, o);
/** An exact decimal; `digits` counts those before and after the point, of which `places` are after it. */
export const Decimal = <const O extends FieldOptions & { digits: number; places: number; min?: number; max?: number }>(
  o: O,
): Typed<OrNull<string, O>> => define('decimal', () => DecimalScalar, DataType.DECIMAL(o.digits, o.places), o);
export const Choose = <const O extends FieldOptions & { choices: Choices; blank?: boolean; max?: number }>(
  o: O,
): Typed<OrNull<string, O>> => {
  const { max = 10, choices, ...options } = o;
  return define('choice', () => choices.type, DataType.STRING(max), { ...options, choices: choices.all, enum: choices });
};
export const Day = <const O extends FieldOptions>(o: O = {} as O): Typed<OrNull<string, O>> =>
  define('date', () => DateScalar, DataType.DATEONLY, o);
// Sequelize's own types of moments and times drop microseconds.
/** A time of day. */
export const Clock = <const O extends FieldOptions>(o: O = {} as O): Typed<OrNull<string, O>> =>
  define('time', () => TimeScalar, 'TIME(6)', o);
export const Moment = <const O extends FieldOptions>(o: O = {} as O): Typed<OrNull<string, O>> =>
  define('datetime', () => DateTimeScalar, 'TIMESTAMP(6) WITH TIME ZONE', o);
/** A value that only SQL can tell. */
export const Computed = <V>(type: FieldMeta['type'], o: FieldOptions, list = false): Typed<V> =>
  define('computed', type, undefined, o, list);
/** A stored path below the media folder, written by an upload; keeping the file and showing its place are up to the resource. */
export const Image = (o: FieldOptions & { max: number }): Typed<string> => {
  const { max, ...options } = o;
  return define('image', () => String, DataType.STRING(max), { ...options, maxLength: max, input: () => UploadScalar });
};

export const defaults = {
  today: (timeZone: string) => today(timeZone),
  now: (timeZone: string) => now(timeZone),
  /** A trigger of the table decides. */
  byTrigger: () => undefined,
};

/** Whether null is accepted on input. */
export const acceptsNull = ({ null: optional, default: given }: Pick<FieldMeta, 'null' | 'default'>): boolean =>
  optional || given === defaults.byTrigger;
