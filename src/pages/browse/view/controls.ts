/** Inputs of forms, derived from the same field metadata as OPTIONS responses. */
import { getNamedType, isNonNullType, type GraphQLArgument } from 'graphql';
import {
  filterParameterName,
  isRequired,
  type ComparisonOperator,
  type FieldMetadata,
  type FilterMetadata,
  type FieldKind,
} from '../../../contract/metadata';
import { toSnakeCase } from '../../../contract/casing';
import { IMAGE_FORMATS } from '../../../files/formats';
import { fieldLabelOf } from './labels';
import type { FormControl } from './viewmodel';

/**
 * Properties of an input that selects related rows: the name of their endpoint, and all rows as choices if there are few. If there are too many, the
 * input searches them by name.
 */
export type RelationChoices = Pick<FormControl, 'endpointName' | 'choices' | 'searchedTypeName'>;
export type RelationChoicesLookup = (type: string) => RelationChoices;

const fieldLimitsOf = ({ minLength, maxLength, min, max, decimalPlaces }: FieldMetadata) => ({
  minLength,
  maxLength,
  min,
  max,
  decimalPlaces,
});

/** Returns the properties of an input that selects related rows. An input that accepts several rows has no search. */
function relationChoicesOfField(
  { relation }: FieldMetadata,
  relationChoicesOf: RelationChoicesLookup,
  acceptsSingleRow: boolean,
): RelationChoices {
  const relationChoices = relationChoicesOf(relation!.typeName);
  return acceptsSingleRow ? relationChoices : { ...relationChoices, searchedTypeName: undefined };
}

/** Help text of image fields. It replaces the help text of the REST API, which names only two of the accepted formats. */
const IMAGE_HELP_TEXT = `Accepted formats: ${Object.keys(IMAGE_FORMATS).join(', ').toUpperCase()}.`;

export function writeFormControlsOf(
  fields: readonly FieldMetadata[],
  relationChoicesOf: RelationChoicesLookup,
): FormControl[] {
  return fields
    .filter((field) => !field.restReadOnly && !field.hiddenInRest)
    .map((field) => ({
      key: field.restKey,
      label: fieldLabelOf(field),
      kind: field.kind,
      required: isRequired(field) && field.kind !== 'boolean',
      helpText: field.kind === 'image' ? IMAGE_HELP_TEXT : field.helpText,
      ...fieldLimitsOf(field),
      choices: field.choices,
      ...(field.relation && {
        multiple: field.relation.isToMany,
        ...relationChoicesOfField(field, relationChoicesOf, !field.relation.isToMany),
      }),
    }));
}

const COMPARISON_SIGNS: Record<ComparisonOperator, string> = {
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
};

export function filterControlsOf(
  filters: readonly FilterMetadata[],
  fields: readonly FieldMetadata[],
  relationChoicesOf: RelationChoicesLookup,
): FormControl[] {
  return filters.map((filter) => {
    const field = fields.find(({ name }) => name === filter.field)!;
    const isCommaSeparated = filter.syntax === 'commaIds';
    return {
      key: filterParameterName(filter, field),
      label: filter.operator
        ? `${fieldLabelOf(field)} ${COMPARISON_SIGNS[filter.operator]}`
        : fieldLabelOf(field),
      kind: field.kind,
      required: false,
      decimalPlaces: field.decimalPlaces,
      choices: field.choices,
      multiple: filter.syntax === 'ids',
      isCommaSeparated,
      ...(isCommaSeparated && { helpText: 'Comma-separated ids. Rows with any of them match.' }),
      ...(field.relation &&
        relationChoicesOfField(
          field,
          relationChoicesOf,
          filter.syntax !== 'ids' && !isCommaSeparated,
        )),
    };
  });
}

const KIND_BY_SCALAR: Record<string, FieldKind> = {
  Int: 'integer',
  Boolean: 'boolean',
  Date: 'date',
  DateTime: 'datetime',
  Time: 'time',
  Decimal: 'decimal',
};

export const argumentControlsOf = (args: readonly GraphQLArgument[]): FormControl[] =>
  args.map(({ name, type, description, defaultValue }) => ({
    key: toSnakeCase(name),
    label: `${name[0]!.toUpperCase()}${toSnakeCase(name).slice(1).replaceAll('_', ' ')}`,
    kind: KIND_BY_SCALAR[getNamedType(type).name] ?? 'string',
    required: isNonNullType(type) && defaultValue === undefined,
    helpText: description ?? undefined,
  }));
