/**
 * GraphQL input types of `where`: filters for scalar values, and `XWhere` for each entity X with
 * its fields and relations.
 */
import { Extensions, Field, ID, InputType, Int, type ClassType } from 'type-graphql';
import { createEnum } from '../declare/enums';
import type { EnumDefinition } from '../declare/choices';
import { fieldsOf, type Entity, type EntityField } from '../declare/fields';
import { nounOf } from '../declare/inflection';
import { memoizePerEntity } from '../declare/memoize';
import { relationsOf } from './expressions';
import { DateScalar, DateTimeScalar, DecimalScalar, TimeScalar } from '../declare/scalars';

export const TextMode = createEnum('TextMode', 'Case sensitivity of text comparisons.', {
  SENSITIVE: '`a` and `A` are different.',
  INSENSITIVE: '`a` and `A` are equal.',
});
export type TextMode = keyof typeof TextMode;

type TypeThunk = () => object;
type OperatorDefinitions = Record<string, [type: TypeThunk, description: string]>;

const createEmptyClass = (name: string): ClassType => ({ [name]: class {} })[name]! as ClassType;

function createInputType(
  name: string,
  description: string,
  operators: OperatorDefinitions,
): ClassType {
  const InputClass = createEmptyClass(name);

  for (const [operator, [type, operatorDescription]] of Object.entries(operators)) {
    Field(type, { nullable: true, description: operatorDescription })(
      InputClass.prototype,
      operator,
    );
  }

  InputType(name, { description })(InputClass);
  return InputClass;
}

const equalityOperators = (type: TypeThunk, valueNoun: string): OperatorDefinitions => ({
  eq: [type, `Equal to this ${valueNoun}; null matches rows without one.`],
  ne: [
    type,
    `Not equal to this ${valueNoun}; also matches rows without one. null matches rows with one.`,
  ],
});
const listOperators = (type: TypeThunk): OperatorDefinitions => ({
  in: [() => [type()], 'Equal to one of these.'],
  notIn: [() => [type()], 'Equal to none of these; also matches rows without a value.'],
});
const nullOperator: OperatorDefinitions = {
  isNull: [() => Boolean, 'True: rows without a value. False: rows with one.'],
};

const comparisonOperators = (type: TypeThunk, valueNoun: string): OperatorDefinitions => ({
  lt: [type, `Less than this ${valueNoun}. Rows without one match no comparison.`],
  lte: [type, `Less than or equal to this ${valueNoun}.`],
  gt: [type, `Greater than this ${valueNoun}.`],
  gte: [type, `Greater than or equal to this ${valueNoun}.`],
});

const createFilter = (name: string, valueNoun: string, operators: OperatorDefinitions) =>
  createInputType(name, `Conditions on a ${valueNoun}, all of which must hold.`, operators);

const createEqualityFilter = (name: string, type: TypeThunk, valueNoun: string) =>
  createFilter(name, valueNoun, {
    ...equalityOperators(type, valueNoun),
    ...listOperators(type),
    ...nullOperator,
  });

const createComparisonFilter = (kind: string, type: TypeThunk, valueNoun: string) =>
  createFilter(`${kind}Filter`, valueNoun, {
    ...equalityOperators(type, valueNoun),
    ...listOperators(type),
    ...comparisonOperators(type, valueNoun),
    ...nullOperator,
  });

const stringType: TypeThunk = () => String;

/**
 * Filter on ids with exactly one operator (`@oneOf`), so that an omitted id variable is an error
 * instead of an ignored condition.
 */
const IdFilter = createInputType('IdFilter', 'A condition on an id, given as `id` or `nodeId`.', {
  eq: [() => ID, 'Equal to this id.'],
  ne: [() => ID, 'Not equal to this id; also matches rows without one.'],
  ...listOperators(() => ID),
  ...nullOperator,
});

Extensions({ oneOf: true })(IdFilter);
const UuidFilter = createEqualityFilter('UuidFilter', stringType, 'UUID');
const BooleanFilter = createFilter('BooleanFilter', 'truth value', {
  ...equalityOperators(() => Boolean, 'truth value'),
  ...nullOperator,
});
const IntFilter = createComparisonFilter('Int', () => Int, 'whole number');
const DecimalFilter = createComparisonFilter('Decimal', () => DecimalScalar, 'decimal');
const DateFilter = createComparisonFilter('Date', () => DateScalar, 'day');
const TimeFilter = createComparisonFilter('Time', () => TimeScalar, 'time of day');
const DateTimeFilter = createComparisonFilter('DateTime', () => DateTimeScalar, 'moment');
const StringFilter = createFilter('StringFilter', 'text', {
  ...equalityOperators(stringType, 'text'),
  ...listOperators(stringType),
  contains: [stringType, 'Contains this text. `%` and `_` are literal characters.'],
  startsWith: [stringType, 'Starts with this text.'],
  endsWith: [stringType, 'Ends with this text.'],
  search: [
    stringType,
    'Fuzzy search that ignores case and accents and tolerates typos. (In texts that may have more than 200 characters, accents count in short words.) At the top level of `where` it also ranks the rows; see `relevance` in `orderBy`.',
  ],
  mode: [
    () => TextMode,
    'Case sensitivity of the other conditions of this filter; SENSITIVE if absent.',
  ],
  ...nullOperator,
});

/**
 * Filter on a set. REST's filters return a row once for each value that matches (`each`); lists in
 * GraphQL contain no row twice.
 */
function createIdSetFilter(name: string, type: TypeThunk, valueNoun: string): ClassType {
  const filter = createFilter(name, `set of ${valueNoun}s`, {
    in: [() => [type()], 'The set contains at least one of these.'],
    notIn: [() => [type()], 'The set contains none of these.'],
    each: [() => [type()], `Like \`in\`, but with one row per matching ${valueNoun}.`],
  });

  Extensions({ exclusiveTo: 'rest' })(filter.prototype, 'each');
  return filter;
}

const IdListFilter = createIdSetFilter('IdListFilter', () => ID, 'id');

const FILTERS_BY_KIND: Record<EntityField['kind'], ClassType | undefined> = {
  relation: IdFilter,
  integer: IntFilter,
  decimal: DecimalFilter,
  boolean: BooleanFilter,
  date: DateFilter,
  time: TimeFilter,
  datetime: DateTimeFilter,
  choice: undefined,
  uuid: UuidFilter,
  string: StringFilter,
  url: StringFilter,
  image: StringFilter,
  computed: undefined,
};

export function filterInputType(field: EntityField): ClassType | undefined {
  if (field.relation?.isToMany && !field.link) return undefined;
  if (field.enum) return enumFilter(field.enum, field.kind === 'relation');
  if (field.relation?.isToMany) return IdListFilter;

  return field.name === 'id' ? IdFilter : FILTERS_BY_KIND[field.kind];
}

const enumFilters = new Map<string, ClassType>();

function enumFilter({ name, type }: EnumDefinition, isListFilter: boolean): ClassType {
  const filterName = `${name}${isListFilter ? 'ListFilter' : 'Filter'}`;
  let filter = enumFilters.get(filterName);

  if (!filter) {
    const create = isListFilter ? createIdSetFilter : createEqualityFilter;
    const valueNoun = isListFilter ? nounOf(name) : 'choice';

    filter = create(filterName, () => type, valueNoun);
    enumFilters.set(filterName, filter);
  }

  return filter;
}

export const isSearchableField = (field: EntityField): boolean =>
  filterInputType(field) === StringFilter;

const addConditionField = (
  WhereInputClass: ClassType,
  key: string,
  type: TypeThunk,
  description: string,
) => Field(type, { nullable: true, description })(WhereInputClass.prototype, key);

/**
 * Input type `XWhere` of an entity X. Call it only after all resources are loaded, because it
 * includes conditions on relations.
 */
export const whereInputType: (entity: Entity) => ClassType = memoizePerEntity((entity) => {
  const name = `${entity.name}Where`;
  const WhereInputClass = createEmptyClass(name);

  for (const field of fieldsOf(entity)) {
    const type = filterInputType(field);

    if (!type) continue;
    addConditionField(WhereInputClass, field.name, () => type, `On \`${field.name}\`.`);
    Extensions({ field })(WhereInputClass.prototype, field.name);
  }

  addConditionField(WhereInputClass, 'and', () => [WhereInputClass], 'All of these hold.');
  addConditionField(WhereInputClass, 'or', () => [WhereInputClass], 'At least one of these holds.');
  addConditionField(
    WhereInputClass,
    'not',
    () => WhereInputClass,
    'This does not hold. Also matches rows without a value.',
  );
  InputType(name, { description: `Conditions on rows of ${entity.name}, all of which must hold.` })(
    WhereInputClass,
  );

  return WhereInputClass;
}, addRelationConditionFields);

function addRelationConditionFields(WhereInputClass: ClassType, entity: Entity): void {
  for (const { name, target, isToMany, exclusiveTo } of relationsOf(entity)) {
    const type = isToMany ? relatedRowsFilter(target()) : whereInputType(target());
    let description = `On \`${name}\`. Rows without one do not match.`;

    if (isToMany) description = `On rows of \`${name}\`.`;

    addConditionField(WhereInputClass, name, () => type, description);
    Extensions({ exclusiveTo })(WhereInputClass.prototype, name);
  }
}

/** Input type `XListFilter`, shared by all to-many relations to an entity X. */
const relatedRowsFilter: (entity: Entity) => ClassType = memoizePerEntity(
  (entity) => {
    const type: TypeThunk = () => whereInputType(entity);

    return createInputType(
      `${entity.name}ListFilter`,
      `Conditions on related rows of ${entity.name}.`,
      {
        some: [type, 'At least one related row matches.'],
        none: [type, 'No related row matches.'],
      },
    );
  },
  (_ListFilterClass, entity) => void whereInputType(entity),
);
