/** Inputs of forms, derived from the same field metadata as OPTIONS responses. */
import { getNamedType, isNonNullType, type GraphQLArgument } from 'graphql';
import {
  filterParameterName,
  isRequired,
  type ComparisonOperator,
  type FieldMetadata,
  type FilterMetadata,
  type FieldKind,
} from '../../../shared/metadata';
import { toSnakeCase } from '../../../shared/casing';
import { IMAGE_FORMATS } from '../../../files/formats';
import { fieldLabelOf } from './labels';
import type { FormControl } from './view-model';

/**
 * How an input selects related rows: from all rows if there are few, otherwise by a search for
 * their names.
 */
export type RelationOptions = Pick<FormControl, 'endpointName' | 'choices' | 'searchedTypeName'>;

/** Finds the choices for rows of a GraphQL type. */
export type RelationOptionsLookup = (type: string) => RelationOptions;

const fieldLimitsOf = ({ minLength, maxLength, min, max, decimalPlaces }: FieldMetadata) => ({
  minLength,
  maxLength,
  min,
  max,
  decimalPlaces,
});

/** Inputs that accept several rows have no search by name. */
function fieldRelationOptions(
  { relation }: FieldMetadata,
  relationOptionsOf: RelationOptionsLookup,
  acceptsSingleRow: boolean,
): RelationOptions {
  const options = relationOptionsOf(relation!.typeName);

  return acceptsSingleRow ? options : { ...options, searchedTypeName: undefined };
}

/** Help text of image inputs. The REST API names only two of the accepted formats. */
const IMAGE_HELP_TEXT = `Accepted formats: ${Object.keys(IMAGE_FORMATS).join(', ').toUpperCase()}.`;

export function writeFormControlsOf(
  fields: readonly FieldMetadata[],
  relationOptionsOf: RelationOptionsLookup,
): FormControl[] {
  return fields
    .filter((field) => !field.pageReadOnly)
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
        ...fieldRelationOptions(field, relationOptionsOf, !field.relation.isToMany),
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
  relationOptionsOf: RelationOptionsLookup,
): FormControl[] {
  return filters.map((filter) => {
    const field = fields.find(({ name }) => name === filter.field)!;
    const isCommaSeparated = filter.syntax === 'commaIds';
    const signSuffix = filter.operator ? ` ${COMPARISON_SIGNS[filter.operator]}` : '';

    return {
      key: filterParameterName(filter, field),
      label: fieldLabelOf(field) + signSuffix,
      kind: field.kind,
      required: false,
      decimalPlaces: field.decimalPlaces,
      choices: field.choices,
      multiple: filter.syntax === 'ids',
      isCommaSeparated,
      ...(isCommaSeparated && {
        helpText: 'A part of a name, or comma-separated ids of which any matches.',
      }),
      ...(field.relation &&
        fieldRelationOptions(
          field,
          relationOptionsOf,
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
