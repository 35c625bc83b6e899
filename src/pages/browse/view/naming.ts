/** What people call the rows of a type, and how rows are found by it. Forms, filters and tables of pages call them so. */
import { getNamedType, getNullableType, isListType, isObjectType, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import type { Choice, FieldFact, Kind, ResourceFact } from '../../../contract/facts';
import { factsOf, type Prepare, type Run } from '../../../rest/endpoints';

const MAX_LABEL = 60;
const MAX_FOUND = 20;
/** Of rows that a name is made of. */
const MAX_PARTS = 3;
/** After a list: all of its rows name it, and not the first alone. */
const ALL = '[]';
/** They tell rows apart that have no name. */
const MOMENTS: readonly Kind[] = ['time', 'date', 'datetime'];

export interface Naming {
  owned: boolean;
  /** Rows that are called like that, a few at most; absent where no text tells them apart. */
  find?(context: object, text: string): Promise<Choice[]>;
  rows(context: object, where: object, first: number): Promise<Choice[] | undefined>;
}

type Row = Readonly<Record<string, unknown>>;

/** How a row is named by what was read of it. */
export interface Calling {
  /** Paths of the fields that name it; none: nothing does. */
  paths: readonly Path[];
  selection: string;
  nameOf(row: Row): string;
  /** What tells it apart from others of its name; empty if nothing does. */
  apartOf(row: Row): string;
}

type Path = readonly string[];

/** The text that they are ordered by, else the first one, else a moment. */
function namingField(fields: readonly FieldFact[], ordering: readonly string[]): FieldFact | undefined {
  const shown = fields.filter(({ hidden }) => !hidden);
  const texts = shown.filter(({ kind }) => kind === 'string');
  const wanted = [ordering[0]?.replace(/^-/, ''), 'name'];
  return texts.find(({ name }) => wanted.includes(name)) ?? texts[0] ?? shown.find(({ kind }) => MOMENTS.includes(kind));
}

/** `a.b` → `a { b }`. */
const selection = (path: Path): string => path.reduceRight((inner, name) => (inner ? `${name} { ${inner} }` : name), '');

const pathOf = (text: string): Path => text.replaceAll(ALL, '').split('.');

function textsAt(value: unknown, [name, ...rest]: Path): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => textsAt(one, name === undefined ? [] : [name, ...rest]));
  if (value === null || value === undefined) return [];
  return name === undefined ? [String(value as string | number)] : textsAt((value as Row)[name], rest);
}

/** `Back Squat + Deadlift`. */
function textAt(row: Row, path: string): string {
  const texts = [...new Set(textsAt(row, pathOf(path)).filter(Boolean))];
  if (!path.includes(ALL)) return texts[0] ?? '';
  const left = texts.length - MAX_PARTS;
  return left > 0 ? [...texts.slice(0, MAX_PARTS), `${left} more`].join(' + ') : texts.join(' + ');
}

/** Below a parent that all rows have, its name tells nothing of them. */
export function callingOf(type: GraphQLObjectType, { names: all, apart, ordering }: ResourceFact, parent?: FieldFact): Calling {
  const own = all?.filter((path) => pathOf(path)[0] !== parent?.relation?.object);
  const names = own?.length ? own : undefined;
  const field = names ? undefined : namingField(factsOf(type), ordering);
  const named = names ?? (field ? [field.name] : []);
  return {
    paths: named.map(pathOf),
    selection: [...named, ...(apart === undefined ? [] : [apart])].map((path) => selection(pathOf(path))).join(' '),
    nameOf: (row) =>
      named
        .map((path) => textAt(row, path))
        .filter(Boolean)
        .join(', '),
    apartOf: (row) => (apart === undefined ? '' : textAt(row, apart)),
  };
}

/** What each of these rows is called beside the others: with what tells it apart where its name does not. */
export function calledAmong(rows: readonly Row[], nameOf: (row: Row) => string, { apartOf }: Calling): (row: Row) => string {
  const aparts = new Map<string, Set<string>>();
  for (const row of rows) aparts.set(nameOf(row), (aparts.get(nameOf(row)) ?? new Set()).add(apartOf(row)));
  return (row) => {
    const name = nameOf(row);
    const apart = !name || aparts.get(name)!.size > 1 ? apartOf(row) : '';
    return name && apart ? `${name} (${apart})` : name || apart;
  };
}

function isText(type: GraphQLObjectType, [name, ...rest]: Path): boolean {
  const field = type.getFields()[name!]!;
  return rest.length ? isText(getNamedType(field.type) as GraphQLObjectType, rest) : field.extensions.field?.kind === 'string';
}

/** The condition that the text at the end of the path is like this; of several rows on the way one is enough. */
function likeness(type: GraphQLObjectType, [name, ...rest]: Path, text: string): object {
  const field = type.getFields()[name!]!;
  const inner = rest.length ? likeness(getNamedType(field.type) as GraphQLObjectType, rest, text) : { search: text };
  return { [name!]: isListType(getNullableType(field.type)) ? { some: inner } : inner };
}

/** Of a public type nothing if nobody could tell its rows apart. */
function namingOf(schema: GraphQLSchema, type: GraphQLObjectType, resource: ResourceFact, prepare: Prepare): Naming | undefined {
  const { owned, many } = resource;
  const calling = callingOf(type, resource);
  const { paths, selection: named } = calling;
  if (!schema.getQueryType()?.getFields()[many] || (!owned && paths.length === 0)) return undefined;
  const texts = [...paths, ...(resource.apart === undefined ? [] : [pathOf(resource.apart)])].filter((path) => isText(type, path));
  let run: Run | undefined;
  const document = `query ($where: ${type.name}Where, $first: Int) { page: ${many}(where: $where, first: $first) { nodes { id ${named} } } }`;
  const rows: Naming['rows'] = async (context, where, first) => {
    const { data } = await (run ??= prepare(document))(context, { where, first });
    const found = data?.page.nodes as Row[] | undefined;
    const nameOf = calledAmong(found ?? [], calling.nameOf, calling);
    // Of one's own rows several may be called the same, or nothing at all.
    const labelOf = (row: Row): string => {
      const name = nameOf(row).slice(0, MAX_LABEL);
      return owned ? [String(row.id), name].filter(Boolean).join(': ') : name;
    };
    return found?.map((row) => ({ value: String(row.id), label: labelOf(row) }));
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
