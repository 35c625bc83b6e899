/** The GraphQL schema → REST endpoints: which paths there are and which operations answer them. Runs once, at start. */
import { getNamedType, isLeafType, isObjectType, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import type { ExecutionResult, GraphQLField, GraphQLOutputType } from 'graphql';
import type { ActionFact, BodyFact, EndpointFact, FieldFact, ResourceFact, ViewFact } from '../contract/facts';
import { snake } from '../contract/casing';
import { DOCUMENT as LOGIN } from './dialect/login';

/** What an operation answers; its document tells the shape. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the executor fills exactly what was selected
export type Data = any;

/** Runs a prepared operation; the context is nobody's business here. */
export type Run = (context: object, variables?: Record<string, unknown>) => Promise<ExecutionResult<Data>>;
export type Prepare<Prepared = Run> = (document: string) => Prepared;
/** With its text, for whoever is shown what it does. */
export type Operation = Run & { readonly document: string };

/** A field of GraphQL with an address of its own. */
export interface Computed<Fact extends BodyFact> {
  fact: Fact;
  field: GraphQLField<unknown, unknown>;
  run: Operation;
}

/** One REST name of a type. */
export interface Endpoint {
  view: ViewFact;
  resource: ResourceFact;
  type: GraphQLObjectType;
  fields: readonly FieldFact[];
  selection: string;
  list: Operation;
  detail: Operation;
  create?: Operation;
  update?: Operation;
  remove?: Operation;
  /** The version of a row. Such rows are changed and deleted with an `ifVersion`, and the rows that `detail`, `create` and `update` answer have one. */
  version?: Operation;
  /** Of given ids, the known ones: `self` for rows of this type, the name of each relation for its rows. */
  known: Operation;
  relations: readonly FieldFact[];
  actions: ReadonlyMap<string, Computed<ActionFact>>;
}

export interface Endpoints {
  resources: ReadonlyMap<string, Endpoint>;
  free: ReadonlyMap<string, Computed<EndpointFact>>;
  login: Operation;
  /** Names in the order of the root view. */
  listed: readonly string[];
}

export const factsOf = (type: GraphQLObjectType): FieldFact[] =>
  Object.values(type.getFields()).flatMap(({ extensions }) => extensions.field ?? []);

/** The selection that shows a type as REST does: aliases rename, and a relation shows its ids. */
export function selectionOf(type: GraphQLObjectType): string {
  const shown = Object.values(type.getFields()).filter(({ extensions }) =>
    type.extensions.resource ? extensions.field && !extensions.field.hidden : !extensions.action,
  );
  return shown
    .map(({ name, type: inner, extensions }) => {
      const key = extensions.field?.rest ?? snake(name);
      return `${key === name ? key : `${key}: ${name}`}${selected(inner)}`;
    })
    .join(' ');
}

/** What stands behind a field of this type. */
function selected(type: GraphQLOutputType, selection?: string): string {
  const named = getNamedType(type);
  return isLeafType(named) ? '' : ` { ${selection ?? selectionOf(named as GraphQLObjectType)} }`;
}

/** Views may name each other's selections, `...exercisecategory`: what stands for a view there. */
export const fragmentName = (rest: string) => rest.replaceAll('-', '_');

function complete(document: string, fragments: ReadonlyMap<string, string>): string {
  const parts = new Set([document]);
  for (const part of parts) for (const [, name] of part.matchAll(/\.\.\.(\w+)/g)) parts.add(fragments.get(name!)!);
  return [...parts].join('\n');
}

export function endpointsOf(schema: GraphQLSchema, prepare: Prepare): Endpoints {
  const views = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) =>
      (type.extensions.resource?.views ?? []).map((view) => ({ type, view, selection: view.selection ?? selectionOf(type) })),
    );
  const fragments = new Map(
    views.map(({ type, view, selection }) => {
      const name = fragmentName(view.rest);
      return [name, `fragment ${name} on ${type.name} { ${selection} }`];
    }),
  );
  const operation: Prepare<Operation> = (text) => {
    const document = complete(text, fragments);
    return Object.assign(prepare(document), { document });
  };
  const free = Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap((field) => {
    const fact = field.extensions.endpoint;
    const endpoint = fact && computed(fact, field, operation);
    return endpoint?.fact.paths.map((path) => [path, endpoint] as const) ?? [];
  });
  const listed = views
    .map(({ view }) => view)
    .filter((view) => view.listed ?? true)
    .sort((a, b) => (a.position ?? Infinity) - (b.position ?? Infinity) || (a.rest < b.rest ? -1 : 1));
  return {
    resources: new Map(views.map((shown) => [shown.view.rest, endpoint(shown, operation)])),
    free: new Map(free),
    login: operation(LOGIN),
    listed: listed.map(({ rest }) => rest),
  };
}

function endpoint({ type, view, selection }: Pick<Endpoint, 'type' | 'view' | 'selection'>, operation: Prepare<Operation>): Endpoint {
  const { name } = type;
  const resource = type.extensions.resource!;
  const { one, many } = resource;
  // Only the first view of a type is written through.
  const { create, update, remove, version }: Partial<ResourceFact> = view === resource.views[0] ? resource : {};
  const fields = factsOf(type);
  const relations = fields.filter(({ relation }) => relation);
  const rows = [{ key: 'self', of: name }, ...relations.map((field) => ({ key: field.name, of: field.relation!.type }))];
  const [declared, passed] = version ? [', $ifVersion: String', ', ifVersion: $ifVersion'] : ['', ''];
  // The version is not part of the body, and what comes last is easily taken off.
  const row = `{ ${selection} ${version ?? ''} }`;
  const payload = `{ row: ${one} ${row} errors { path message } }`;
  return {
    view,
    resource,
    type,
    fields,
    selection,
    relations,
    list: operation(
      `query ($where: ${name}Where, $orderBy: [${name}Order!], $first: Int, $offset: Int) { page: ${many}(where: $where, orderBy: $orderBy, first: $first, offset: $offset) { totalCount nodes { ${selection} } } }`,
    ),
    detail: operation(`query ($id: ID!) { row: ${one}(id: $id) ${row} }`),
    ...(version && { version: operation(`query ($id: ID!) { row: ${one}(id: $id) { ${version} } }`) }),
    ...(create && { create: operation(`mutation ($input: ${name}Input!) { answer: ${create}(input: $input) ${payload} }`) }),
    ...(update && {
      update: operation(
        `mutation ($id: ID!, $input: ${name}Patch!${declared}) { answer: ${update}(id: $id, input: $input${passed}) ${payload} }`,
      ),
    }),
    ...(remove && { remove: operation(`mutation ($id: ID!${declared}) { answer: ${remove}(id: $id${passed}) { errors { path } } }`) }),
    known: operation(
      `query ${inBrackets(rows.map(({ key }) => `$${key}: [ID!]!`))} { ${rows.map(({ key, of }) => `${key}: known(type: "${of}", ids: $${key})`).join(' ')} }`,
    ),
    actions: new Map(
      Object.values(type.getFields()).flatMap((field) => {
        const fact = field.extensions.action;
        return fact ? [[fact.name, computed(fact, field, operation, one)] as const] : [];
      }),
    ),
  };
}

const inBrackets = (all: readonly string[]) => (all.length ? `(${all.join(', ')})` : '');

/** A query for the value of the field: of a row, which the field `one` finds, or on its own. */
function computed<Fact extends BodyFact>(
  fact: Fact,
  field: GraphQLField<unknown, unknown>,
  operation: Prepare<Operation>,
  one?: string,
): Computed<Fact> {
  const { name, args, type } = field;
  const variables = args.map((argument) => `$${argument.name}: ${String(argument.type)}`);
  const value = `${name}${inBrackets(args.map((argument) => `${argument.name}: $${argument.name}`))}${selected(type, fact.selection)}`;
  const run = one
    ? operation(`query ${inBrackets(['$self: ID!', ...variables])} { row: ${one}(id: $self) { action: ${value} } }`)
    : operation(`query ${inBrackets(variables)} { result: ${value} }`);
  return { fact, field, run };
}
