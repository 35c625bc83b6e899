/** Field decorators and field metadata: one decorator defines the column, the GraphQL field and the metadata that both interfaces read. */
import { Extensions, Field, ID, Int } from 'type-graphql';
import { literal, type DataType as SqlType } from 'sequelize';
import { Column, DataType, type Model } from 'sequelize-typescript';
import type { GraphQLScalarType } from 'graphql';
import type { FieldMetadata, FieldKind, ApiName } from '../../contract/metadata';
import type { ChoiceSet, EnumDefinition } from './choices';
import { todayIn, currentTimestamp } from './clock';
import { findLimitViolations } from './fieldvalidation';
import { invalidValueIssue, type ValidationIssue } from './validationissues';
import { toSnakeCase } from '../../contract/casing';
import { labelFor } from './inflection';
import type { LinkTable } from './linktable';
import { listSizeExtensions } from './fieldextensions';
import { DateScalar, DateTimeScalar, DecimalScalar, TimeScalar, UploadScalar } from './scalars';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- accepts every model; no other type does, because methods take and return M (it is invariant)
export type Entity<M = any> = (new () => M) & { name: string };
/** Row of a resource with all its fields, without the methods of the Sequelize model and without child rows. */
export type RowOf<M> = {
  [K in Exclude<keyof M, Exclude<keyof Model, 'id'>> as M[K] extends Model[] ? never : K]: M[K];
};
export type RowFields<M, F extends keyof RowOf<M>> = Pick<RowOf<M>, F>;
export type Thunk<T = Entity> = () => T;

export type SqlExpression = (alias: string) => string;

export interface RelatedRowColumn {
  table: string;
  /** Column of the referencing table that contains the id of the other row. */
  referenceColumn: string;
  /** Column of the other table whose value is read. */
  column: string;
}

/** Options of a field declaration. `Nullable` is the type of `allowNull`, which decides whether the type of the property includes null. */
export interface FieldOptions<Nullable extends boolean = boolean> {
  label?: string;
  helpText?: string;
  /** Description in the API documentation; defaults to the help text. */
  description?: string;
  /** Description in GraphQL; defaults to the description in the API documentation. */
  graphqlDescription?: string;
  /** Whether the field is nullable in the database, and optional and nullable in inputs. */
  allowNull?: Nullable;
  /** Default value on creation, or a function that returns it and receives the server's time zone. */
  default?: unknown | ((timeZone: string) => unknown);
  /** Description of the default value of a reference in the GraphQL schema, because the default is only an id. */
  defaultDescription?: string;
  /**
   * Whether a database trigger fills an absent unit with the unit of the user's profile. Under the policy `assumesProfileUnits`, `default` applies
   * instead.
   */
  defaultsToProfileUnit?: boolean;
  /** REST key and database column, if they differ from the snake-case name. */
  columnAndRestKey?: string;
  /** REST key, if it differs from the name in snake case. Does not affect the database column. */
  restKey?: string;
  /** Database column, if it differs from the name in snake case. Does not affect the REST key. */
  column?: string;
  hiddenInRest?: boolean;
  /** Whether REST can sort by the column: `false` if the table of the reference service does not have it. */
  restSortable?: false;
  exclusiveTo?: ApiName;
  isHtml?: boolean;
  /** Whether clients cannot write the field; `'rest'` means read-only in REST but writable in GraphQL. */
  readOnly?: boolean | 'rest';
  restIgnoredOnCreate?: boolean;
  /** Whether the database sets the value and ignores values in writes. */
  setByDatabase?: boolean;
  /** SQL expression of a computed field, evaluated in the statement that reads the row. */
  sql?: SqlExpression;
  /** Column whose equal values make the list of a computed relation, for cost estimates. */
  groupColumn?: Pick<RelatedRowColumn, 'table' | 'column'>;
  /** Columns by which a computed reference finds its row: their values are equal in this row and in the referenced row. */
  matchingColumns?: readonly string[];
  /** Column of another row that is exposed and filtered like a column of this row. */
  relatedColumn?: RelatedRowColumn;
  /**
   * Whether the text is indexed for search. A case-folded copy with a trigram index is stored as `<column>_folded`, and its words as
   * `<column>_words`.
   */
  indexedForSearch?: boolean;
  /** Whether a large table gets a database index for sorting by the collation that GraphQL uses for public strings. */
  indexedForSorting?: boolean;
  /** Stricter maximum of an integer where rules are enforced (`ApiPolicies.enforcesRules`). REST shows and accepts values up to `max`. */
  plausibleMax?: number;
  /** Typical number of elements of a list field, for cost estimates. */
  assumedSize?: number;
  /** Additional check, called only for values within the limits of the field (`min`, `max` …). Returns messages; none if the value is valid. */
  check?: (value: unknown, timeZone: string) => string[];
  /** Performs slow checks of a value that has passed all other checks. Returns messages; none if the value is valid. */
  checkAsync?: (value: unknown) => Promise<string[]>;
  /** Converts a string in a filter condition to the stored form, for fields whose stored values differ from those that clients see. */
  toStoredText?: (
    text: string,
    operator: string,
    isCaseInsensitive: boolean,
    baseUrl: string,
  ) => string;
}

/** A field of a resource with all its metadata: the public metadata, the options of its declaration, and values derived from them. */
export interface EntityField extends FieldMetadata, Omit<FieldOptions, keyof FieldMetadata> {
  /** Database column; absent for computed fields and link tables. */
  column?: string;
  findIssues(value: unknown, timeZone: string): ValidationIssue[];
  type: () => GraphQLScalarType | typeof String | typeof Boolean | EnumDefinition['type'];
  graphqlDescription: string;
  enum?: EnumDefinition;
  /** GraphQL type of the field in inputs, if it differs from its type in responses. */
  inputType?: () => GraphQLScalarType;
  /** Entity to which a reference or id set refers. */
  target?: Thunk;
  objectFieldName?: string;
  link?: LinkTable;
  sequelizeType?: SqlType;
}

export interface ChildRowsField {
  name: string;
  target: Thunk;
  /** Field of the child row that references the parent row. */
  referenceFieldName: string;
  /** Field of the parent row to whose value the child rows refer, usually `id`. */
  keyFieldName: string;
  isConnection: boolean;
  /** Typical number of child rows, for cost estimates; absent for connections. */
  assumedSize?: number;
  /** Whether the child rows are saved and versioned together with the parent row. */
  isSavedWithParent: boolean;
  /** Whether nested writes cannot create the child rows together with the parent row, because the reference to it is computed instead of stored. */
  readOnly: boolean;
  /** Fields by which the child rows are sorted; empty for their default order. */
  order: string[];
  description: string;
}

export const childFieldsSavedWithParent = (entity: Entity): readonly ChildRowsField[] =>
  childRowsFieldsOf(entity).filter(({ isSavedWithParent }) => isSavedWithParent);

export const groupedFieldName = ({ name }: ChildRowsField): string => `${name}Grouped`;

const fieldsByEntity = new Map<object, EntityField[]>();
const childRowsFieldsByEntity = new Map<object, ChildRowsField[]>();
export const registerChildRowsField = (entity: Entity, child: ChildRowsField): void =>
  void childRowsFieldsByEntity.set(entity, [...childRowsFieldsOf(entity), child]);

/** Returns the fields of a resource in the order of declaration, which is also the order in REST. */
export const fieldsOf = (entity: Entity): readonly EntityField[] =>
  fieldsByEntity.get(entity) ?? [];
export const childRowsFieldsOf = (entity: Entity): readonly ChildRowsField[] =>
  childRowsFieldsByEntity.get(entity) ?? [];
export const fieldOf = (entity: Entity, name: string): EntityField => {
  const match = fieldsOf(entity).find((field) => field.name === name);
  if (!match) throw new Error(`${entity.name} has no field ${name}`);
  return match;
};

/** Property decorator that compiles only on properties of exactly the type `V`, including null. */
export type TypedDecorator<V> = <K extends string, T extends Record<K, V>>(
  target: T & ([V] extends [T[K]] ? unknown : never),
  propertyName: K,
) => void;
export type NullableIf<V, Nullable> = Nullable extends true ? V | null : V;

/** Options of a field declaration together with the metadata that its decorator determines. */
type FieldDefinition = FieldOptions & Partial<Omit<EntityField, keyof FieldOptions>>;

/**
 * Returns the default value of the database column: a constant or the current time. Other defaults are computed by the server for each row, not by
 * the database.
 */
function columnDefault({
  default: defaultValue,
  setByDatabase,
  allowBlank,
  allowNull,
  kind,
}: EntityField): unknown {
  if (setByDatabase || defaultValue === defaultValues.now) return literal('now()');
  if (typeof defaultValue === 'function') return undefined;
  return defaultValue ?? (kind === 'string' && allowBlank && !allowNull ? '' : undefined);
}

export function defineField(
  kind: FieldKind,
  type: EntityField['type'],
  sequelizeType: SqlType | undefined,
  options: FieldDefinition,
  isList = false,
) {
  return (prototype: object, name: string): void => {
    const entity = prototype.constructor as Entity;
    const isDerived = Boolean(options.sql ?? options.relatedColumn ?? options.link?.keyColumn);
    const isColumn = !isDerived && !options.link;
    const description =
      options.description ??
      options.helpText ??
      `${options.label ?? labelFor(options.objectFieldName ?? name)}.`;
    const entityField: EntityField = {
      ...options,
      name,
      kind,
      type,
      restKey:
        options.restKey ?? options.columnAndRestKey ?? toSnakeCase(options.objectFieldName ?? name),
      label: options.label ?? labelFor(options.objectFieldName ?? name),
      description,
      graphqlDescription: options.graphqlDescription ?? description,
      allowNull: options.allowNull ?? false,
      allowBlank: options.allowBlank ?? false,
      hasDefault: options.default !== undefined,
      hiddenInRest: options.hiddenInRest ?? false,
      readOnly: options.readOnly === true || isDerived,
      restReadOnly: options.readOnly !== undefined || options.hiddenInRest === true || isDerived,
      restIgnoredOnCreate: options.restIgnoredOnCreate ?? false,
      isColumn,
      isSortable: isColumn && options.restSortable !== false,
      ...(isColumn && { column: options.column ?? options.columnAndRestKey ?? toSnakeCase(name) }),
      sequelizeType,
      findIssues: (value, timeZone) => {
        const issues = findLimitViolations(value, entityField);
        return issues.length || value == null
          ? issues
          : (options.check?.(value, timeZone) ?? []).map(invalidValueIssue);
      },
      check: (value, timeZone) =>
        entityField.findIssues(value, timeZone).map(({ message }) => message),
    };
    fieldsByEntity.set(entity, [...fieldsOf(entity), entityField]);
    if (isColumn)
      Column({
        type: sequelizeType,
        allowNull: entityField.allowNull,
        field: entityField.column,
        defaultValue: columnDefault(entityField),
      })(prototype, name);
    Field(() => (isList ? [type()] : type()), {
      nullable: entityField.allowNull,
      description: entityField.graphqlDescription,
    })(prototype, name);
    Extensions({
      field: entityField,
      ...(options.assumedSize !== undefined && listSizeExtensions(options.assumedSize)),
    })(prototype, name);
  };
}

export const Id = (): TypedDecorator<number> => (prototype: object, name: string) => {
  const options = {
    label: 'ID',
    description: 'Identifies the row among those of its type.',
    readOnly: true,
  };
  defineField('integer', () => ID, DataType.INTEGER, options)(prototype, name);
  Column({
    type: DataType.INTEGER,
    primaryKey: true,
    autoIncrement: true,
    autoIncrementIdentity: true,
    field: 'id',
  })(prototype, name);
};

/** Declares a text field; `max` is in characters. Surrounding whitespace is trimmed. */
export const TextField = <const Nullable extends boolean = false>(
  options: FieldOptions<Nullable> & { min?: number; max?: number; allowBlank?: boolean } = {},
): TypedDecorator<NullableIf<string, Nullable>> => {
  const { min, max, ...otherOptions } = options;
  return defineField('string', () => String, max ? DataType.STRING(max) : DataType.TEXT, {
    ...otherOptions,
    minLength: min,
    maxLength: max,
  });
};
export const UrlField = <const Nullable extends boolean = false>(
  options: FieldOptions<Nullable> & { max: number; allowBlank?: boolean },
): TypedDecorator<NullableIf<string, Nullable>> => {
  const { max, ...otherOptions } = options;
  return defineField('url', () => String, DataType.STRING(max), {
    ...otherOptions,
    maxLength: max,
  });
};
export const UuidField = <const Nullable extends boolean = false>(
  options: FieldOptions<Nullable> = {},
): TypedDecorator<NullableIf<string, Nullable>> =>
  defineField('uuid', () => String, DataType.UUID, { label: 'UUID', ...options });
export const BooleanField = <const Nullable extends boolean = false>(
  options: FieldOptions<Nullable> = {},
): TypedDecorator<NullableIf<boolean, Nullable>> =>
  defineField('boolean', () => Boolean, DataType.BOOLEAN, options);
export const IntegerField = <const Nullable extends boolean = false>(
  options: FieldOptions<Nullable> & { min?: number; max?: number } = {},
): TypedDecorator<NullableIf<number, Nullable>> =>
  defineField('integer', () => Int, DataType.INTEGER, options);
/** Declares an exact decimal. `maxDigits` counts all digits, of which `decimalPlaces` are after the decimal point. */
export const DecimalField = <const Nullable extends boolean = false>(
  options: FieldOptions<Nullable> & {
    maxDigits: number;
    decimalPlaces: number;
    min?: number;
    max?: number;
  },
): TypedDecorator<NullableIf<string, Nullable>> =>
  defineField(
    'decimal',
    () => DecimalScalar,
    DataType.DECIMAL(options.maxDigits, options.decimalPlaces),
    options,
  );
export const ChoiceField = <const Nullable extends boolean = false>(
  options: FieldOptions<Nullable> & { choices: ChoiceSet; allowBlank?: boolean; max?: number },
): TypedDecorator<NullableIf<string, Nullable>> => {
  const { max = 10, choices, ...otherOptions } = options;
  return defineField('choice', () => choices.type, DataType.STRING(max), {
    ...otherOptions,
    choices: choices.restChoices,
    enum: choices,
  });
};
export const DateField = <const Nullable extends boolean = false>(
  options: FieldOptions<Nullable> = {},
): TypedDecorator<NullableIf<string, Nullable>> =>
  defineField('date', () => DateScalar, DataType.DATEONLY, options);
// The SQL types of times and timestamps are given as text, because Sequelize's own time types drop microseconds.
export const TimeField = <const Nullable extends boolean = false>(
  options: FieldOptions<Nullable> = {},
): TypedDecorator<NullableIf<string, Nullable>> =>
  defineField('time', () => TimeScalar, 'TIME(6)', options);
export const DateTimeField = <const Nullable extends boolean = false>(
  options: FieldOptions<Nullable> = {},
): TypedDecorator<NullableIf<string, Nullable>> =>
  defineField('datetime', () => DateTimeScalar, 'TIMESTAMP(6) WITH TIME ZONE', options);
export const ComputedField = <V>(
  type: EntityField['type'],
  options: FieldOptions,
  isList = false,
): TypedDecorator<V> => defineField('computed', type, undefined, options, isList);
/** Declares an uploaded image. The column contains its path below the media folder; the resource itself stores the file and builds its URL. */
export const ImageField = (options: FieldOptions & { max: number }): TypedDecorator<string> => {
  const { max, ...otherOptions } = options;
  return defineField('image', () => String, DataType.STRING(max), {
    ...otherOptions,
    maxLength: max,
    inputType: () => UploadScalar,
  });
};

export const defaultValues = {
  today: (timeZone: string) => todayIn(timeZone),
  now: (timeZone: string) => currentTimestamp(timeZone),
  /** Default of fields whose value is set by a database trigger: the server supplies no default value for them. */
  byTrigger: () => undefined,
};

export const acceptsNull = ({
  allowNull,
  default: defaultValue,
}: Pick<EntityField, 'allowNull' | 'default'>): boolean =>
  allowNull || defaultValue === defaultValues.byTrigger;
