/** The GraphQL schema → REST endpoints: which paths there are and which operations answer them. Runs once, at start. */
import { getNamedType, isLeafType, isObjectType, parse, visit, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import type { ExecutionResult, GraphQLField } from 'graphql';
import type { ActionFact, EndpointFact, FieldFact, ResourceFact, ViewFact } from '../contract/facts';
import { snake } from '../contract/casing';

/** What an operation answers; its document tells the shape. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the executor fills exactly what was selected
export type Data = any;

/** Runs a prepared operation; the context is nobody's business here. */
export type Run = (context: object, variables?: Record<string, unknown>) => Promise<ExecutionResult<Data>>;
export type Prepare = (document: string) => Run;
/** With its text, for whoever is shown what it does. */
export type Operation = Run & { readonly document: string };
type PrepareOperation = (document: string) => Operation;

export const prepareOperation = (prepare: Prepare, document: string): Operation => Object.assign(prepare(document), { document });

export interface Action {
  fact: ActionFact;
  field: GraphQLField<unknown, unknown>;
  run: Operation;
}

/** One REST name of a type. */
export interface Endpoint {
  view: ViewFact;
  resource: ResourceFact;
  type: GraphQLObjectType;
  /** The facts of the type's fields. */
  fields: readonly FieldFact[];
  /** The selection set that is shown. */
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
  actions: ReadonlyMap<string, Action>;
}

/** A query field with a path of its own. */
export interface FreeEndpoint {
  fact: EndpointFact;
  field: GraphQLField<unknown, unknown>;
  run: Operation;
}

export interface Endpoints {
  resources: ReadonlyMap<string, Endpoint>;
  free: ReadonlyMap<string, FreeEndpoint>;
  /** Names in the order of the root view. */
  listed: readonly string[];
}

export const factsOf = (type: GraphQLObjectType): FieldFact[] =>
  Object.values(type.getFields())
    .map((field) => field.extensions.field)
    .filter((fact): fact is FieldFact => fact !== undefined);

const fragmentName = (rest: string) => rest.replaceAll('-', '_');

/** The selection that shows a type as REST does: aliases rename, and a relation shows its ids. */
export function selectionOf(type: GraphQLObjectType): string {
  const shown = Object.values(type.getFields()).filter(({ extensions }) =>
    type.extensions.resource ? extensions.field && !extensions.field.hidden : !extensions.action,
  );
  return shown
    .map((field) => {
      const key = field.extensions.field?.rest ?? snake(field.name);
      const named = getNamedType(field.type);
      const alias = key === field.name ? key : `${key}: ${field.name}`;
      return isLeafType(named) ? alias : `${alias} { ${selectionOf(named as GraphQLObjectType)} }`;
    })
    .join(' ');
}

/** Views may name each other's selections, `...exercisecategory`; the fragments that a document uses are added to it. */
function documents(types: readonly { type: GraphQLObjectType; views: readonly ViewFact[] }[]) {
  const fragments = new Map<string, string>();
  for (const { type, views } of types)
    for (const view of views)
      fragments.set(
        fragmentName(view.rest),
        `fragment ${fragmentName(view.rest)} on ${type.name} { ${view.selection ?? selectionOf(type)} }`,
      );
  return (text: string): string => {
    const used = new Set<string>();
    const collect = (source: string) =>
      visit(parse(source), {
        FragmentSpread({ name }) {
          if (used.has(name.value)) return;
          used.add(name.value);
          collect(fragments.get(name.value) ?? '');
        },
      });
    collect(text);
    return [text, ...[...used].map((name) => fragments.get(name))].join('\n');
  };
}

export function endpointsOf(schema: GraphQLSchema, prepareDocument: Prepare): Endpoints {
  const types = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => type.extensions.resource)
    .map((type) => ({ type, views: type.extensions.resource!.views }));
  const complete = documents(types);
  const prepare: PrepareOperation = (text) => prepareOperation(prepareDocument, complete(text));
  const resources = new Map<string, Endpoint>();
  for (const { type, views } of types) views.forEach((view, index) => resources.set(view.rest, endpoint(type, view, index === 0, prepare)));
  const listed = [...resources.values()]
    .filter(({ view }) => view.listed ?? true)
    .sort(({ view: a }, { view: b }) => (a.position ?? Infinity) - (b.position ?? Infinity) || (a.rest < b.rest ? -1 : 1))
    .map(({ view }) => view.rest);
  return { resources, free: freeEndpoints(schema, prepare), listed };
}

const UNCONDITIONAL = { declared: '', passed: '', shown: '' };

function endpoint(type: GraphQLObjectType, view: ViewFact, writable: boolean, prepare: PrepareOperation): Endpoint {
  const resource = type.extensions.resource!;
  const { one, many, create, update, remove } = resource;
  const selection = view.selection ?? selectionOf(type);
  const relations = factsOf(type).filter((field) => field.relation);
  const name = type.name;
  const ids = ['self', ...relations.map((field) => field.name)];
  const lookups = [
    `self: known(type: "${name}", ids: $self)`,
    ...relations.map((field) => `${field.name}: known(type: "${field.relation!.type}", ids: $${field.name})`),
  ];
  const version = writable ? resource.version : undefined;
  const condition = version
    ? { declared: ', $ifVersion: String', passed: ', ifVersion: $ifVersion', shown: ' conflict { id }' }
    : UNCONDITIONAL;
  // The version is not part of the body, and what comes last is easily taken off.
  const row = `${one}(id: $id) { ${selection} ${version ?? ''} }`;
  const payload = `{ row: ${one} { ${selection} ${version ?? ''} } fieldErrors { path code messages }${condition.shown} }`;
  return {
    view,
    resource,
    type,
    fields: factsOf(type),
    selection,
    relations,
    list: prepare(
      `query ($where: ${name}Where, $orderBy: [${name}Order!], $first: Int, $offset: Int) { page: ${many}(where: $where, orderBy: $orderBy, first: $first, offset: $offset) { totalCount nodes { ${selection} } } }`,
    ),
    detail: prepare(`query ($id: ID!) { row: ${row} }`),
    ...(version && { version: prepare(`query ($id: ID!) { row: ${one}(id: $id) { ${version} } }`) }),
    ...(writable && create && { create: prepare(`mutation ($input: ${name}Input!) { answer: ${create}(input: $input) ${payload} }`) }),
    ...(writable &&
      update && {
        update: prepare(
          `mutation ($id: ID!, $input: ${name}Patch!${condition.declared}) { answer: ${update}(id: $id, input: $input${condition.passed}) ${payload} }`,
        ),
      }),
    ...(writable &&
      remove && {
        remove: prepare(
          `mutation ($id: ID!${condition.declared}) { answer: ${remove}(id: $id${condition.passed}) { deletedId${condition.shown} } }`,
        ),
      }),
    known: prepare(`query (${ids.map((id) => `$${id}: [ID!]!`).join(', ')}) { ${lookups.join(' ')} }`),
    actions: new Map(actions(type, one, prepare).map((action) => [action.fact.name, action])),
  };
}

/** `(a: $a)` and `$a: Int` of a field's arguments. */
function parameters({ args }: GraphQLField<unknown, unknown>): { declared: string; passed: string } {
  return {
    declared: args.map((argument) => `$${argument.name}: ${String(argument.type)}`).join(', '),
    passed: args.length ? `(${args.map(({ name }) => `${name}: $${name}`).join(', ')})` : '',
  };
}

function shape(field: GraphQLField<unknown, unknown>, selection?: string): string {
  const named = getNamedType(field.type);
  if (isLeafType(named)) return '';
  return `{ ${selection ?? selectionOf(named as GraphQLObjectType)} }`;
}

function actions(type: GraphQLObjectType, one: string, prepare: PrepareOperation): Action[] {
  return Object.values(type.getFields()).flatMap((field) => {
    const fact = field.extensions.action;
    if (!fact) return [];
    const { declared, passed } = parameters(field);
    const document = `query ($self: ID!${declared && `, ${declared}`}) { row: ${one}(id: $self) { action: ${field.name}${passed} ${shape(field, fact.selection)} } }`;
    return [{ fact, field, run: prepare(document) }];
  });
}

function freeEndpoints(schema: GraphQLSchema, prepare: PrepareOperation): Map<string, FreeEndpoint> {
  const found = new Map<string, FreeEndpoint>();
  for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) {
    const fact = field.extensions.endpoint;
    if (!fact) continue;
    const { declared, passed } = parameters(field);
    const run = prepare(`query${declared && ` (${declared})`} { result: ${field.name}${passed} ${shape(field, fact.selection)} }`);
    for (const path of fact.paths) found.set(path, { fact, field, run });
  }
  return found;
}
