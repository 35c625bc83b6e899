/** Inputs of forms, derived from the same field metadata as OPTIONS responses. */
import { getNamedType, isNonNullType, type GraphQLArgument } from 'graphql';
import {
  filterParameterName,
  isRequired,
  type Choice,
  type ComparisonOperator,
  type FieldMetadata,
  type FilterMetadata,
  type FieldKind,
} from '../../../contract/metadata';
import { toSnakeCase } from '../../../contract/casing';
import { labelOf } from './labels';
import type { FormControl } from './viewmodel';

/** Properties of the input of a relation: the endpoint of the rows, and all rows as choices if there are few. */
export interface RelationChoices {
  target?: string;
  choices?: readonly Choice[];
  /** GraphQL type of the rows, if there are too many for choices and they can be searched by name. */
  searched?: string;
}
export type RelationChoicesOf = (type: string) => RelationChoices;

const limitsOf = ({ minLength, maxLength, min, max, places }: FieldMetadata) => ({ minLength, maxLength, min, max, places });

/** Returns the properties of the input of a relation. Inputs for several rows have no search. */
function relatedTo({ relation }: FieldMetadata, related: RelationChoicesOf, isSingle: boolean): RelationChoices {
  const found = related(relation!.type);
  return isSingle ? found : { ...found, searched: undefined };
}

export function writeControls(fields: readonly FieldMetadata[], related: RelationChoicesOf): FormControl[] {
  return fields
    .filter((field) => !field.restReadOnly && !field.hidden)
    .map((field) => ({
      key: field.rest,
      label: labelOf(field),
      kind: field.kind,
      required: isRequired(field) && field.kind !== 'boolean',
      help: field.help,
      ...limitsOf(field),
      choices: field.choices,
      ...(field.relation && { many: field.relation.many, ...relatedTo(field, related, !field.relation.many) }),
    }));
}

const COMPARISON_SIGNS: Record<ComparisonOperator, string> = { gt: '>', gte: '≥', lt: '<', lte: '≤' };

export function filterControls(
  filters: readonly FilterMetadata[],
  fields: readonly FieldMetadata[],
  related: RelationChoicesOf,
): FormControl[] {
  return filters.map((filter) => {
    const field = fields.find(({ name }) => name === filter.field)!;
    const isCommaList = filter.parse === 'commaIds';
    return {
      key: filterParameterName(filter, field),
      label: filter.operator ? `${labelOf(field)} ${COMPARISON_SIGNS[filter.operator]}` : labelOf(field),
      kind: field.kind,
      required: false,
      places: field.places,
      choices: field.choices,
      many: filter.parse === 'ids',
      commas: isCommaList,
      ...(isCommaList && { help: 'Comma-separated ids. Rows with any of them match.' }),
      ...(field.relation && relatedTo(field, related, filter.parse !== 'ids' && !isCommaList)),
    };
  });
}

const KINDS: Record<string, FieldKind> = {
  Int: 'integer',
  Boolean: 'boolean',
  Date: 'date',
  DateTime: 'datetime',
  Time: 'time',
  Decimal: 'decimal',
};

export const argumentControls = (args: readonly GraphQLArgument[]): FormControl[] =>
  args.map(({ name, type, description, defaultValue }) => ({
    key: toSnakeCase(name),
    label: `${name[0]!.toUpperCase()}${toSnakeCase(name).slice(1).replaceAll('_', ' ')}`,
    kind: KINDS[getNamedType(type).name] ?? 'string',
    required: isNonNullType(type) && defaultValue === undefined,
    help: description ?? undefined,
  }));
