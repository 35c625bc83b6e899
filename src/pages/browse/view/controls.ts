/** Inputs of forms, from the same facts as OPTIONS. */
import { getNamedType, isNonNullType, type GraphQLArgument } from 'graphql';
import { isRequired, type Choice, type FieldFact, type FilterFact, type Kind } from '../../../contract/facts';
import { snake } from '../../../contract/casing';
import { labelOf } from './wording';
import type { Control } from './view';

/** What only the schema as a whole tells of a relation: the endpoint of its rows, and their names where they are few. */
export interface Related {
  target?: string;
  choices?: readonly Choice[];
  /** The type itself, if its rows have names and are too many to choose from. */
  searched?: string;
}
export type RelatedOf = (type: string) => Related;

const limits = ({ minLength, maxLength, min, max, places }: FieldFact) => ({ minLength, maxLength, min, max, places });

/** Only a single row is searched for. */
function relatedTo({ relation }: FieldFact, related: RelatedOf, single: boolean): Related {
  const found = related(relation!.type);
  return single ? found : { ...found, searched: undefined };
}

export function writeControls(fields: readonly FieldFact[], related: RelatedOf): Control[] {
  return fields
    .filter((field) => !field.restReadOnly && !field.hidden)
    .map((field) => ({
      key: field.rest,
      label: labelOf(field),
      kind: field.kind,
      required: isRequired(field) && field.kind !== 'boolean',
      help: field.help,
      ...limits(field),
      choices: field.choices,
      ...(field.relation && { many: field.relation.many, ...relatedTo(field, related, !field.relation.many) }),
    }));
}

export function filterControls(filters: readonly FilterFact[], fields: readonly FieldFact[], related: RelatedOf): Control[] {
  return filters.map((fact) => {
    const field = fields.find(({ name }) => name === fact.field)!;
    const commas = fact.parse === 'commaIds';
    return {
      key: fact.key ?? field.rest,
      label: labelOf(field),
      kind: field.kind,
      required: false,
      places: field.places,
      choices: field.choices,
      many: fact.parse === 'ids',
      commas,
      ...(commas && { help: 'Ids with commas; rows with any of them.' }),
      ...(field.relation && relatedTo(field, related, fact.parse !== 'ids' && !commas)),
    };
  });
}

const KINDS: Record<string, Kind> = {
  Int: 'integer',
  Boolean: 'boolean',
  Date: 'date',
  DateTime: 'datetime',
  Time: 'time',
  Decimal: 'decimal',
};

export const argumentControls = (args: readonly GraphQLArgument[]): Control[] =>
  args.map(({ name, type, description, defaultValue }) => ({
    key: snake(name),
    label: `${name[0]!.toUpperCase()}${snake(name).slice(1).replaceAll('_', ' ')}`,
    kind: KINDS[getNamedType(type).name] ?? 'string',
    required: isNonNullType(type) && defaultValue === undefined,
    help: description ?? undefined,
  }));
