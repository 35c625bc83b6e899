/** What people call the rows of a type, and how rows are found by it. Forms, filters and tables of pages call them so. */
import { getNamedType, getNullableType, isListType, isObjectType, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import type { Choice, FieldFact, Kind, ResourceFact } from '../../../contract/facts';
import { factsOf, type Prepare, type Run } from '../../../rest/endpoints';

const MAX_LABEL = 60;
const MAX_FOUND = 20;
/** They tell rows apart that have no name. */
const MOMENTS: readonly Kind[] = ['time', 'date', 'datetime'];

export interface Naming {
  owned: boolean;
  /** Rows that are called like that, a few at most; absent where no text tells them apart. */
  find?(context: object, text: string): Promise<Choice[]>;
  rows(context: object, where: object, first: number): Promise<Choice[] | undefined>;
}

type Row = Record<string, unknown>;

/** How a row is named by what was read of it. */
export interface Calling {
  /** Paths of the fields that name it; none: nothing does. */
  paths: readonly (readonly string[])[];
  /** Of the fields, for an operation. */
  selection: string;
  nameOf(row: Row): string;
}

/** The text that they are ordered by, else the first one, else a moment. */
function namingField(fields: readonly FieldFact[], ordering: readonly string[]): FieldFact | undefined {
  const shown = fields.filter(({ hidden }) => !hidden);
  const texts = shown.filter(({ kind }) => kind === 'string');
  const wanted = [ordering[0]?.replace(/^-/, ''), 'name'];
  return texts.find(({ name }) => wanted.includes(name)) ?? texts[0] ?? shown.find(({ kind }) => MOMENTS.includes(kind));
}

/** `a.b` → `a { b }`. */
const selection = (path: readonly string[]): string => path.reduceRight((inner, name) => (inner ? `${name} { ${inner} }` : name), '');

function textAt(value: unknown, [name, ...rest]: readonly string[]): string {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  if (one === null || one === undefined) return '';
  return name === undefined ? String(one as string | number) : textAt((one as Row)[name], rest);
}

export function callingOf(type: GraphQLObjectType, { names, ordering }: ResourceFact): Calling {
  const field = names ? undefined : namingField(factsOf(type), ordering);
  const paths = (names ?? (field ? [field.name] : [])).map((path) => path.split('.'));
  return {
    paths,
    selection: paths.map(selection).join(' '),
    nameOf: (row) =>
      paths
        .map((path) => textAt(row, path))
        .filter(Boolean)
        .join(', '),
  };
}

function isText(type: GraphQLObjectType, [name, ...rest]: readonly string[]): boolean {
  const field = type.getFields()[name!]!;
  return rest.length ? isText(getNamedType(field.type) as GraphQLObjectType, rest) : field.extensions.field?.kind === 'string';
}

/** The condition that the text at the end of the path is like this; of several rows on the way one is enough. */
function likeness(type: GraphQLObjectType, [name, ...rest]: readonly string[], text: string): object {
  const field = type.getFields()[name!]!;
  const inner = rest.length ? likeness(getNamedType(field.type) as GraphQLObjectType, rest, text) : { search: text };
  return { [name!]: isListType(getNullableType(field.type)) ? { some: inner } : inner };
}

/** Of a public type nothing if nobody could tell its rows apart. */
function namingOf(schema: GraphQLSchema, type: GraphQLObjectType, resource: ResourceFact, prepare: Prepare): Naming | undefined {
  const { owned, many } = resource;
  const { paths, selection: named, nameOf } = callingOf(type, resource);
  if (!schema.getQueryType()?.getFields()[many] || (!owned && paths.length === 0)) return undefined;
  const texts = paths.filter((path) => isText(type, path));
  let run: Run | undefined;
  const document = `query ($where: ${type.name}Where, $first: Int) { page: ${many}(where: $where, first: $first) { nodes { id ${named} } } }`;
  // Of one's own rows several may be called the same, or nothing at all.
  const labelOf = (row: Row): string => {
    const name = nameOf(row).slice(0, MAX_LABEL);
    return owned ? [String(row.id), name].filter(Boolean).join(': ') : name;
  };
  const rows: Naming['rows'] = async (context, where, first) => {
    const { data } = await (run ??= prepare(document))(context, { where, first });
    return data?.page.nodes.map((row: Row) => ({ value: String(row.id), label: labelOf(row) }));
  };
  return {
    owned,
    rows,
    ...(texts.length && {
      async find(context, text) {
        const like = texts.map((path) => likeness(type, path, text));
        return (await rows(context, like.length > 1 ? { or: like } : like[0]!, MAX_FOUND)) ?? [];
      },
    }),
  };
}

export function namings(schema: GraphQLSchema, prepare: Prepare): (type: string) => Naming | undefined {
  const known = new Map<string, Naming | undefined>();
  return (name) => {
    const type = schema.getType(name);
    if (!isObjectType(type) || !type.extensions.resource) return undefined;
    if (!known.has(name)) known.set(name, namingOf(schema, type, type.extensions.resource, prepare));
    return known.get(name);
  };
}
