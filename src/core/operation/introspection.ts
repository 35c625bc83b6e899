/** GraphQL introspection (https://spec.graphql.org/October2021/#sec-Introspection): detects it in documents and estimates the sizes of its lists. */
import {
  BREAK,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  visit,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';

const META_FIELDS = [SchemaMetaFieldDef.name, TypeMetaFieldDef.name];
/** Expected or maximum lengths of introspection lists (`fields`, `args`, …), by field name. */
type ListLengthEstimates = Readonly<Record<string, number>>;

const listLengthEstimatesBySchema = new WeakMap<GraphQLSchema, Record<'average' | 'max', ListLengthEstimates>>();

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

/** Introspection fields whose objects, directly in the list of all types, have the average number of values in their lists. */
const FIELDS_OF_ALL_TYPES = ['types', 'fields', 'args'];

/** Whether an introspection field returns objects that belong to all types, rather than to one that may be the largest. */
export const describesAllTypes = (fieldName: string, isParentOfAllTypes: boolean): boolean =>
  fieldName === 'types' || (isParentOfAllTypes && FIELDS_OF_ALL_TYPES.includes(fieldName));

/** Returns the length of an introspection list: the average over all types, or else the maximum. */
export function introspectionListSize(schema: GraphQLSchema, listName: string, isOfAllTypes: boolean): number {
  let lengthEstimates = listLengthEstimatesBySchema.get(schema);
  if (!lengthEstimates) {
    const lengths = listLengths(schema);
    lengthEstimates = { average: summarizeLengths(lengths, average), max: summarizeLengths(lengths, (values) => Math.max(...values)) };
    listLengthEstimatesBySchema.set(schema, lengthEstimates);
  }
  return lengthEstimates[isOfAllTypes ? 'average' : 'max'][listName]!;
}

type ListLengths = Readonly<Record<string, readonly number[]>>;

const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

const summarizeLengths = (lengths: ListLengths, summarize: (values: readonly number[]) => number): ListLengthEstimates =>
  Object.fromEntries(Object.entries(lengths).map(([list, values]) => [list, summarize(values)]));

function listLengths(schema: GraphQLSchema): ListLengths {
  const types = Object.values(schema.getTypeMap());
  const fields = types.map((type) => (isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : []));
  const directives = schema.getDirectives();
  return {
    types: [types.length],
    directives: [directives.length],
    locations: directives.map(({ locations }) => locations.length),
    fields: fields.map(({ length }) => length),
    args: fields.flat().map(({ args }) => args.length),
    inputFields: types.map((type) => (isInputObjectType(type) ? Object.keys(type.getFields()).length : 0)),
    enumValues: types.map((type) => (isEnumType(type) ? type.getValues().length : 0)),
    interfaces: types.map((type) => (isObjectType(type) || isInterfaceType(type) ? type.getInterfaces().length : 0)),
    possibleTypes: types.map((type) => (isAbstractType(type) ? schema.getPossibleTypes(type).length : 0)),
  };
}
