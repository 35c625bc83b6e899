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
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';

const META_FIELDS = [SchemaMetaFieldDef.name, TypeMetaFieldDef.name];
/** The types that an introspection object may describe: all types, one type, or undefined if that is unknown. */
export type IntrospectionScope = typeof ALL_TYPES | GraphQLNamedType | undefined;

const ALL_TYPES = 'all types';

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

/** Returns the scope of the objects that an introspection field returns, from the scope of the field's parent object. */
export function introspectionScopeOfChildren(
  schema: GraphQLSchema,
  fieldName: string,
  args: Readonly<Record<string, unknown>>,
  scope: IntrospectionScope,
): IntrospectionScope {
  switch (fieldName) {
    case '__type':
      return schema.getType(String(args.name));
    case 'types':
      return ALL_TYPES;
    case 'queryType':
      return schema.getQueryType() ?? undefined;
    case 'mutationType':
      return schema.getMutationType() ?? undefined;
    case 'subscriptionType':
      return schema.getSubscriptionType() ?? undefined;
    case 'fields':
    case 'args':
      return scope;
    default:
      return undefined;
  }
}

/** Returns the length of an introspection list: the average over the types in scope, or the maximum over all types if the scope is unknown. */
export function introspectionListSize(schema: GraphQLSchema, listName: string, scope: IntrospectionScope): number {
  let lengthEstimates = listLengthEstimatesBySchema.get(schema);
  if (!lengthEstimates) {
    const lengths = listLengths(schema, Object.values(schema.getTypeMap()));
    lengthEstimates = { average: summarizeLengths(lengths, average), max: summarizeLengths(lengths, (values) => Math.max(...values)) };
    listLengthEstimatesBySchema.set(schema, lengthEstimates);
  }
  if (scope === undefined || listName === 'directives' || listName === 'locations') return lengthEstimates.max[listName]!;
  return scope === ALL_TYPES ? lengthEstimates.average[listName]! : average(listLengths(schema, [scope])[listName]!);
}

type ListLengths = Readonly<Record<string, readonly number[]>>;

const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

const summarizeLengths = (lengths: ListLengths, summarize: (values: readonly number[]) => number): ListLengthEstimates =>
  Object.fromEntries(Object.entries(lengths).map(([list, values]) => [list, summarize(values)]));

function listLengths(schema: GraphQLSchema, types: readonly GraphQLNamedType[]): ListLengths {
  const fields = types.map((type) => (isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : []));
  const directives = schema.getDirectives();
  return {
    types: [Object.keys(schema.getTypeMap()).length],
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
