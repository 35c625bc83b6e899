/** Documents that ask for the schema itself, and how much of it there is. */
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

const META = [SchemaMetaFieldDef.name, TypeMetaFieldDef.name];
/** What an object of introspection is of: each type there is and each of their fields, or one type and each of its fields. Unknown: whichever. */
export type Scope = typeof ALL | GraphQLNamedType | undefined;

const ALL = 'all types';

/** How many values lists of introspection have, by their names. */
type Sizes = Readonly<Record<string, number>>;

const extents = new WeakMap<GraphQLSchema, Extent>();

export function introspects(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Field({ name }) {
      if (!META.includes(name.value)) return undefined;
      found = true;
      return BREAK;
    },
  });
  return found;
}

/** What the objects are of that a field of introspection leads to, from one that is of `scope`. */
export function scopeBelow(schema: GraphQLSchema, field: string, given: Readonly<Record<string, unknown>>, scope: Scope): Scope {
  switch (field) {
    case '__type':
      return schema.getType(String(given.name));
    case 'types':
      return ALL;
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

/** How many values a list has: exactly, on an average, where it is known what it is of; else as many as there can be. */
export function introspectedSize(schema: GraphQLSchema, list: string, scope: Scope): number {
  let extent = extents.get(schema);
  if (!extent) extents.set(schema, (extent = new Extent(schema)));
  return extent.size(list, scope);
}

class Extent {
  private readonly ofAll: Sizes;
  private readonly most: Sizes;
  private readonly ofOne = new Map<GraphQLNamedType, Sizes>();

  constructor(private readonly schema: GraphQLSchema) {
    const counts = count(schema, Object.values(schema.getTypeMap()));
    this.ofAll = sizes(counts, average);
    this.most = sizes(counts, (of) => Math.max(...of));
  }

  size(list: string, scope: Scope): number {
    if (scope === undefined || list === 'directives' || list === 'locations') return this.most[list]!;
    if (scope === ALL) return this.ofAll[list]!;
    let known = this.ofOne.get(scope);
    if (!known) this.ofOne.set(scope, (known = sizes(count(this.schema, [scope]), average)));
    return known[list]!;
  }
}

type Counts = Readonly<Record<string, readonly number[]>>;

const average = (of: readonly number[]): number => of.reduce((sum, one) => sum + one, 0) / Math.max(1, of.length);

const sizes = (counts: Counts, size: (of: readonly number[]) => number): Sizes =>
  Object.fromEntries(Object.entries(counts).map(([list, of]) => [list, size(of)]));

function count(schema: GraphQLSchema, types: readonly GraphQLNamedType[]): Counts {
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
