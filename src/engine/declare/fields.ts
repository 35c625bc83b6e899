/**
 * Field decorators and field metadata: one decorator defines the column, the GraphQL field and the
 * metadata for both APIs.
 */
import { Extensions, Field, ID, Int } from 'type-graphql';
import { literal, type DataType as SqlType } from 'sequelize';
import { Column, DataType, type Model } from 'sequelize-typescript';
import type { GraphQLScalarType } from 'graphql';
import {
  isRequired,
  type FieldMetadata,
  type FieldKind,
  type ApiName,
} from '../../shared/metadata';
import type { ChoiceSet, EnumDefinition } from './choices';
import { todayIn, currentTimestamp } from './clock';
import { findLimitViolations, type FieldLimits } from './field-validation';
import { invalidValueIssue, type ValidationIssue } from './errors';
import { toSnakeCase } from '../../shared/casing';
import { labelFor } from './inflection';
import type { LinkTable } from './link-table';
import { listSizeExtensions } from './field-extensions';
import { DateScalar, DateTimeScalar, DecimalScalar, TimeScalar, UploadScalar } from './scalars';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- accepts every model; no other type does, because methods take and return M (it is invariant)
export type Entity<M = any> = (new () => M) & { name: string };

/**
 * Row of a resource with all its fields, without child rows and the methods of its Sequelize model.
 */
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

/**
 * Options of a field declaration. `Nullable` (from `allowNull`) adds null to the type of the
 * property.
 */
export interface FieldOptions<Nullable extends boolean = boolean> {
  label?: string;
  helpText?: string;

  /** Description in the API documentation. Defaults to the help text. */
  description?: string;

  /** Description in GraphQL. Defaults to the description in the API documentation. */
  graphqlDescription?: string;

  /** Makes the column nullable, and the field optional and nullable in inputs. */
  allowNull?: Nullable;

  /** Default value on creation, or a function of the server's time zone that computes it. */
  default?: unknown | ((timeZone: string) => unknown);

  /** Unit of the values in descriptions of their statistics: `in kilograms`. */
  unitNote?: string;

  /** Explains a default reference in the GraphQL schema, where the default is only an id. */
  defaultDescription?: string;

  /**
   * API whose writes may omit the value, which a database trigger then sets. Writes through the
   * other API must give it.
   */
  setByTriggerIn?: ApiName;

  /**
   * API whose writes use `default`. Writes through the other API leave the value to a database
   * trigger.
   */
  defaultExclusiveTo?: ApiName;

  /** REST key and database column. Both default to the name in snake case. */
  columnAndRestKey?: string;

  /** REST key. Defaults to the name in snake case. */
  restKey?: string;

  /** Database column. Defaults to the name in snake case. */
  column?: string;
  hiddenInRest?: boolean;
  hiddenOnPages?: boolean;

  /** `false` if the reference service does not have the column, so that REST cannot sort by it. */
  restSortable?: false;
  exclusiveTo?: ApiName;
  isHtml?: boolean;

  /**
   * Rejects writes by clients, of one API only if it names one. A computed field is read-only
   * unless this is `false`; hooks then write its value.
   */
  readOnly?: boolean | ApiName;
  restIgnoredOnCreate?: boolean;

  /**
   * Place of the row among its siblings. Rows that are saved in a list with their parent get their
   * places in the list.
   */
  isPosition?: true;

  /** The database sets the value and ignores values in writes. */
  setByDatabase?: boolean;

  /** SQL expression of a computed field, evaluated in the statement that reads the row. */
  sql?: SqlExpression;

  /** Column that is equal in all rows of a computed list, for cost estimates. */
  groupColumn?: Pick<RelatedRowColumn, 'table' | 'column'>;

  /** Reads a computed field with the columns of its row, so that loads of a row share a batch. */
  readWithColumns?: true;

  /** Columns by which a computed reference finds its row: their values are equal in both rows. */
  matchingColumns?: readonly string[];

  /** Column of another row that is exposed and filtered like a column of this row. */
  relatedColumn?: RelatedRowColumn;

  /**
   * Indexes the text for search: `<column>_folded` holds a case-folded copy with a trigram index and
   * a B-tree, and another index contains its words.
   */
  indexedForSearch?: boolean;

  /** Further columns whose words a search of this indexed field finds (migration 0093). */
  searchedWithColumns?: readonly string[];

  /**
   * Adds a database index to a large table, for sorting by GraphQL's collation of public strings.
   */
  indexedForSorting?: boolean;

  /**
   * Maximum of an integer where rules are enforced (`ApiPolicies.enforcesRules`). REST shows and
   * accepts values up to `max`.
   */
  plausibleMax?: number;

  /** Typical number of elements of a list field, for cost estimates. */
  assumedSize?: number;

  /**
   * Additional check of values within the limits of the field (`min`, `max` …). Returns error
   * messages.
   */
  check?: (value: unknown, timeZone: string) => string[];

  /** Slow check of a value that has passed all other checks. Returns error messages. */
  checkAsync?: (value: unknown) => Promise<string[]>;

  /**
   * Converts a filter value to its stored form, for fields whose values clients see in another
   * form.
   */
  toStoredText?: (
    text: string,
    operator: string,
    isCaseInsensitive: boolean,
    baseUrl: string,
  ) => string;
}

/**
 * A field of a resource: its public metadata, the options of its declaration, and values derived
 * from them.
 */
export interface EntityField extends FieldMetadata, Omit<FieldOptions, keyof FieldMetadata> {
  /** Database column. Computed fields and link tables have none. */
  column?: string;

  /**
   * Whether GraphQL accepts an empty text. Where REST rejects one (`allowBlank`), it does so before
   * the mutation.
   */
  graphqlAllowBlank: boolean;

  /** Validates a value by the rules of GraphQL. `check` applies those of REST. */
  findIssues(value: unknown, timeZone: string): ValidationIssue[];
  type: () => GraphQLScalarType | typeof String | typeof Boolean | EnumDefinition['type'];
  graphqlDescription: string;
  enum?: EnumDefinition;

  /** GraphQL type in inputs, if it differs from the type in responses. */
  inputType?: () => GraphQLScalarType;

  /** Entity of the referenced or linked rows. */
  target?: Thunk;
  relationFieldName?: string;
  link?: LinkTable;
  sequelizeType?: SqlType;
}

export interface ChildRowsField {
  name: string;
  target: Thunk;

  /** Field of the child row that references the parent row. */
  referenceFieldName: string;

  /** Referenced field of the parent row, usually `id`. */
  keyFieldName: string;
  isConnection: boolean;

  /** Typical number of child rows, for cost estimates. Connections need none. */
  assumedSize?: number;

  /** The child rows are parts: saved and versioned together with the parent row. */
  isSavedWithParent: boolean;

  /**
   * Nested writes cannot create the child rows, because their reference to the parent row is
   * computed.
   */
  readOnly: boolean;
  exclusiveTo?: ApiName;

  /** Sort fields of the child rows, if they differ from the default order. */
  order: string[];
  description: string;
}

export const partFields = (entity: Entity): readonly ChildRowsField[] =>
  childRowsFieldsOf(entity).filter(({ isSavedWithParent }) => isSavedWithParent);

export const groupedFieldName = ({ name }: ChildRowsField): string => `${name}Grouped`;

const fieldsByEntity = new Map<object, EntityField[]>();
const childRowsFieldsByEntity = new Map<object, ChildRowsField[]>();

export const registerChildRowsField = (entity: Entity, child: ChildRowsField): void =>
  void childRowsFieldsByEntity.set(entity, [...childRowsFieldsOf(entity), child]);

/** Fields of a resource in the order of declaration, which is also their order in REST. */
export const fieldsOf = (entity: Entity): readonly EntityField[] =>
  fieldsByEntity.get(entity) ?? [];

/** Whether a field refers to one row. */
export const isReferenceField = (field: EntityField): boolean =>
  field.relationFieldName !== undefined && !field.relation!.isToMany;

export const positionFieldOf = (entity: Entity): EntityField | undefined =>
  fieldsOf(entity).find(({ isPosition }) => isPosition);
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

/** Options of a field declaration and the metadata that its decorator determines. */
type FieldDefinition = FieldOptions & Partial<Omit<EntityField, keyof FieldOptions>>;

/**
 * Default value of the database column: a constant or the current time. The server computes all
 * other defaults for each row.
 */
function columnDefault({
  default: defaultValue,
  setByDatabase,
  allowBlank,
  allowNull,
  kind,
}: EntityField): unknown {
  if ((setByDatabase && kind === 'datetime') || defaultValue === defaultValues.now) {
    return literal('now()');
  }

  if (typeof defaultValue === 'function') return undefined;

  return defaultValue ?? (kind === 'string' && allowBlank && !allowNull ? '' : undefined);
}

const isReadOnlyInGraphQL = (readOnly: boolean | ApiName): boolean =>
  readOnly === true || readOnly === 'graphql';

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
    const publicName = options.relationFieldName ?? name;
    const label = options.label ?? labelFor(publicName);
    const description = options.description ?? options.helpText ?? `${label}.`;
    const isReadOnlyInRest =
      isDerived || (options.readOnly !== undefined && options.readOnly !== 'graphql');
    const hiddenOnPages = options.hiddenOnPages ?? options.hiddenInRest ?? false;
    const allowBlank = options.allowBlank ?? false;
    const graphqlAllowBlank = options.graphqlAllowBlank ?? allowBlank;

    const issueFinder = (limits: FieldLimits) => (value: unknown, timeZone: string) => {
      const issues = findLimitViolations(value, limits);

      if (issues.length || value == null) return issues;
      const messages = options.check?.(value, timeZone) ?? [];

      return messages.map(invalidValueIssue);
    };

    const findRestIssues = issueFinder({ ...options, kind, allowBlank });

    const entityField: EntityField = {
      ...options,
      name,
      kind,
      type,
      restKey: options.restKey ?? options.columnAndRestKey ?? toSnakeCase(publicName),
      label,
      description,
      graphqlDescription: options.graphqlDescription ?? description,
      allowNull: options.allowNull ?? false,
      allowBlank,
      graphqlAllowBlank,
      hasDefault: options.default !== undefined,
      hiddenInRest: options.hiddenInRest ?? false,
      hiddenOnPages,
      readOnly: options.readOnly === undefined ? isDerived : isReadOnlyInGraphQL(options.readOnly),
      restReadOnly: isReadOnlyInRest || options.hiddenInRest === true,
      pageReadOnly: isReadOnlyInRest || hiddenOnPages,
      restIgnoredOnCreate: options.restIgnoredOnCreate ?? false,
      isColumn,
      isSortable: isColumn && options.restSortable !== false,
      ...(isColumn && { column: options.column ?? options.columnAndRestKey ?? toSnakeCase(name) }),
      sequelizeType,
      findIssues: issueFinder({ ...options, kind, allowBlank: graphqlAllowBlank }),
      check: (value, timeZone) => findRestIssues(value, timeZone).map(({ message }) => message),
    };

    fieldsByEntity.set(entity, [...fieldsOf(entity), entityField]);

    if (isColumn) {
      Column({
        type: sequelizeType,
        allowNull: entityField.allowNull,
        field: entityField.column,
        defaultValue: columnDefault(entityField),
      })(prototype, name);
    }

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

/** Declares a text field with a maximum length in characters. Surrounding whitespace is trimmed. */
export const TextField = <const Nullable extends boolean = false>(
  options: FieldOptions<Nullable> & {
    min?: number;
    max?: number;
    allowBlank?: boolean;
    graphqlAllowBlank?: boolean;
  } = {},
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

/** Declares an exact decimal. `maxDigits` includes the `decimalPlaces` after the decimal point. */
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
// Uses SQL type names for times and timestamps, because Sequelize's own time types drop
// microseconds.
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
): TypedDecorator<V> => defineField('computed', type, undefined, options);

/** Declares an uploaded image. The column contains its path in the media folder. */
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

  /** For fields that a database trigger sets: the server supplies no default. */
  byTrigger: () => undefined,
};

export const isRequiredInGraphQL = ({
  allowNull,
  hasDefault,
  graphqlAllowBlank: allowBlank,
}: EntityField): boolean => isRequired({ allowNull, hasDefault, allowBlank });

export const acceptsNull = ({
  allowNull,
  default: defaultValue,
}: Pick<EntityField, 'allowNull' | 'default'>): boolean =>
  allowNull || defaultValue === defaultValues.byTrigger;
