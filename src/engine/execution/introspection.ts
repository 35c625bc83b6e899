/**
 * GraphQL introspection (https://spec.graphql.org/October2021/#sec-Introspection): detects it in
 * documents and estimates the sizes of its lists.
 */
import {
  BREAK,
  executeSync,
  parse,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  visit,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import { addToList } from '../../shared/multimap';

const META_FIELDS = [SchemaMetaFieldDef.name, TypeMetaFieldDef.name];

/** Average or maximum lengths of introspection lists (`fields`, `args`, …), by field name. */
type ListLengthEstimates = Readonly<Record<string, number>>;

const listLengthEstimatesBySchema = new WeakMap<
  GraphQLSchema,
  Record<'average' | 'max', ListLengthEstimates>
>();

/** Selects all lists of an introspection. */
const ALL_LISTS = parse(`{ __schema {
  types { fields(includeDeprecated: true) { args(includeDeprecated: true) { name } } inputFields(includeDeprecated: true) { name }
    enumValues(includeDeprecated: true) { name } interfaces { name } possibleTypes { name } }
  directives { locations args(includeDeprecated: true) { name } }
} }`);

export function containsIntrospection(document: DocumentNode): boolean {
  let hasMetaField = false;

  visit(document, {
    Field({ name }) {
      if (!META_FIELDS.includes(name.value)) return undefined;
      hasMetaField = true;
      return BREAK;
    },
  });

  return hasMetaField;
}

/**
 * Introspection fields below which the list of all types (`__schema { types }`) continues. Their
 * objects are assumed to have lists of average length.
 */
const TYPE_LIST_FIELDS = ['types', 'fields', 'args'];

/**
 * Whether an introspection field lists objects of all types, rather than of a single type that may
 * be the largest.
 */
export const isTypeListField = (fieldName: string, isParentInTypeList: boolean): boolean =>
  fieldName === 'types' || (isParentInTypeList && TYPE_LIST_FIELDS.includes(fieldName));

/**
 * Length of an introspection list: the average over all types, or the maximum for a single type.
 */
export function introspectionListSize(
  schema: GraphQLSchema,
  listName: string,
  isInTypeList: boolean,
): number {
  let lengthEstimates = listLengthEstimatesBySchema.get(schema);

  if (!lengthEstimates) {
    const lengths = collectLengths(executeSync({ schema, document: ALL_LISTS }).data);

    lengthEstimates = {
      average: summarizeLengths(lengths, average),
      max: summarizeLengths(lengths, (values) => Math.max(...values)),
    };
    listLengthEstimatesBySchema.set(schema, lengthEstimates);
  }

  return lengthEstimates[isInTypeList ? 'average' : 'max'][listName]!;
}

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const summarizeLengths = (
  lengths: ReadonlyMap<string, number[]>,
  summarize: (values: readonly number[]) => number,
): ListLengthEstimates =>
  Object.fromEntries([...lengths].map(([list, values]) => [list, summarize(values)]));

/**
 * Collects the lengths of all lists in an introspection result, by field name. A null list counts
 * as empty.
 */
function collectLengths(
  value: unknown,
  lengths = new Map<string, number[]>(),
): Map<string, number[]> {
  for (const [key, member] of Object.entries(value ?? {})) {
    if (typeof member !== 'object') continue;
    addToList(lengths, key, Array.isArray(member) ? member.length : 0);
    collectLengths(member, lengths);
  }

  return lengths;
}
