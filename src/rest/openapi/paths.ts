/** Endpoints as paths: which methods each takes, with what, and what they answer. */
import type { GraphQLSchema } from 'graphql';
import { parse, type OperationDefinitionNode } from 'graphql';
import type { ActionFact, EndpointFact } from '../../contract/facts';
import type { Computed, Endpoint, Endpoints } from '../endpoints';
import { titleOf } from '../dialect/options';
import { ANSWER, HINT, PATH, TITLE } from '../dialect/login';
import { BASE, findRoute } from '../routes';
import { answered, errors, METADATA_ANSWER, NOT_MODIFIED, versioned } from './answered';
import type { Answers } from './answers';
import { body } from './bodies';
import { fieldParameters, listParameters, REPRESENTATION, shared } from './parameters';
import { argument, component, described, type Schema } from './schemas';

type Operation = Readonly<Record<string, unknown>>;
type Path = Record<string, unknown>;
export type Paths = Record<string, Path>;

export const componentsOf = ({ view: { rest } }: Endpoint) => ({
  row: rest,
  page: `${rest}.page`,
  body: `${rest}.body`,
  change: `${rest}.change`,
});

export const GENERAL = 'general';

/** Ways to say who asks; what a session changes needs the CSRF token too. */
const READING = [{ token: [] }, { session: [] }];
const WRITING = [{ token: [] }, { session: [], csrf: [] }];
const PUBLIC = [{}, ...READING];

/** Client generators make function names of it. */
const operationId = (...words: string[]) => words.join('_').replace(/\W+/g, '_');

const metadata = (tag: string, ...words: string[]): Operation => ({
  operationId: operationId(...words, 'options'),
  tags: [tag],
  summary: 'What the address is and takes',
  security: PUBLIC,
  responses: { 200: METADATA_ANSWER, ...errors() },
});

export class PathsOf {
  constructor(
    private readonly schema: GraphQLSchema,
    private readonly endpoints: Endpoints,
    private readonly answers: Answers,
  ) {}

  all(): Paths {
    return {
      '/': this.root(),
      [`/${PATH}/`]: this.login(),
      ...Object.fromEntries([...this.endpoints.free].map(([path, endpoint]) => [`/${path}/`, this.free(path, endpoint)])),
      ...Object.assign({}, ...[...this.endpoints.resources.values()].map((endpoint) => this.resource(endpoint))),
    };
  }

  private root(): Path {
    const links = Object.fromEntries(this.endpoints.listed.map((name) => [name, { type: 'string', format: 'uri' }]));
    const schema = { type: 'object', properties: links, required: this.endpoints.listed };
    return {
      get: {
        operationId: operationId('root'),
        tags: [GENERAL],
        summary: 'The resources, each with the address of its list',
        security: PUBLIC,
        parameters: [...REPRESENTATION],
        responses: { 200: answered('The addresses.', schema), ...errors() },
      },
      options: metadata(GENERAL, 'root'),
    };
  }

  /** The mutation's arguments are the body. */
  private login(): Path {
    const field = this.schema.getMutationType()!.getFields().login!;
    const { selectionSet } = parse(`{ ${ANSWER} }`).definitions[0] as OperationDefinitionNode;
    const properties = Object.fromEntries(field.args.map(({ name, type, description }) => [name, described(argument(type), description)]));
    const hint = Object.fromEntries(Object.keys(HINT).map((key) => [key, { type: 'string' }]));
    const common = { tags: [GENERAL], parameters: [...REPRESENTATION] };
    return {
      get: {
        ...common,
        security: PUBLIC,
        operationId: operationId(PATH, 'hint'),
        summary: `${TITLE}: how it is done`,
        responses: { 200: answered('What to send.', { type: 'object', properties: hint, required: Object.keys(HINT) }), ...errors() },
      },
      post: {
        ...common,
        security: [{}, ...WRITING],
        operationId: operationId(PATH),
        summary: 'A token for a name and a password',
        requestBody: body({ type: 'object', properties, required: Object.keys(properties) }),
        responses: { 200: answered('The token.', this.answers.selected(field, selectionSet)), ...errors(400, 401, 413, 415, 429) },
      },
      options: metadata(GENERAL, PATH),
    };
  }

  private free(path: string, endpoint: Computed<EndpointFact>): Path {
    const { fact, field } = endpoint;
    const [first] = path.split('/');
    const tag = this.endpoints.resources.has(first!) ? first! : GENERAL;
    return {
      get: {
        operationId: operationId(path),
        tags: [tag],
        summary: fact.title,
        ...(field.description && { description: field.description }),
        security: PUBLIC,
        parameters: fieldParameters(field),
        responses: { 200: answered('The answer.', this.answers.value(endpoint)), ...errors(...(field.args.length ? [400] : [])) },
      },
      options: metadata(tag, path),
    };
  }

  private resource(endpoint: Endpoint): Paths {
    const { rest } = endpoint.view;
    const actions = [...endpoint.actions].map(([name, action]) => [`/${rest}/{id}/${name}/`, this.action(endpoint, name, action)]);
    return { [`/${rest}/`]: this.list(endpoint), [`/${rest}/{id}/`]: this.detail(endpoint), ...Object.fromEntries(actions) };
  }

  private list(endpoint: Endpoint): Path {
    const { view } = endpoint;
    const { row, page, body: bodyName } = componentsOf(endpoint);
    const writes = this.writes(endpoint, `/${view.rest}/`);
    return {
      get: {
        ...this.reading(endpoint, 'list', `${view.title} list`),
        parameters: listParameters(endpoint),
        responses: { 200: answered('A page of rows.', component(page)), ...errors(400) },
      },
      ...(endpoint.create &&
        writes.includes('POST') && {
          post: {
            ...this.writing(endpoint, 'create', 'Make a row'),
            requestBody: body(component(bodyName), endpoint),
            responses: { 201: this.row(endpoint, 'The new row.', component(row)), ...errors(400, 409, 413, 415) },
          },
        }),
      options: metadata(view.rest, view.rest, 'list'),
    };
  }

  private detail(endpoint: Endpoint): Path {
    const { view } = endpoint;
    const { row, body: bodyName, change } = componentsOf(endpoint);
    const writes = this.writes(endpoint, `/${view.rest}/1/`);
    const { parameters, status } = endpoint.version ? { parameters: [shared('ifMatch')], status: [412] } : { parameters: [], status: [] };
    const changing = (verb: string, summary: string) => {
      const writing = this.writing(endpoint, verb, summary);
      return { ...writing, parameters: [...(writing.parameters as unknown[]), ...parameters] };
    };
    const written = (name: string) => ({
      requestBody: body(component(name), endpoint),
      responses: { 200: this.row(endpoint, 'The row as it is now.', component(row)), ...errors(400, 409, ...status, 413, 415) },
    });
    return {
      parameters: [shared('id')],
      get: {
        ...this.reading(endpoint, 'read', `${view.title} instance`),
        parameters: [...REPRESENTATION, ...(endpoint.version ? [shared('ifNoneMatch')] : [])],
        responses: {
          200: this.row(endpoint, 'The row.', component(row)),
          ...(endpoint.version && { 304: NOT_MODIFIED }),
          ...errors(),
        },
      },
      ...(endpoint.update &&
        writes.includes('PUT') && {
          put: {
            ...changing('replace', 'Write a row anew'),
            description: 'Optional fields that are left out stay as they are.',
            ...written(bodyName),
          },
        }),
      ...(endpoint.update &&
        writes.includes('PATCH') && { patch: { ...changing('change', 'Change fields of a row'), ...written(change) } }),
      ...(endpoint.remove &&
        writes.includes('DELETE') && {
          delete: {
            ...changing('delete', 'Delete a row and what hangs below it'),
            responses: { 204: { description: 'The row is gone.' }, ...errors(400, 409, ...status) },
          },
        }),
      options: metadata(view.rest, view.rest, 'instance'),
    };
  }

  private row(endpoint: Endpoint, description: string, schema: Schema): Operation {
    const shown = answered(description, schema);
    return endpoint.version ? versioned(shown) : shown;
  }

  private action(endpoint: Endpoint, name: string, action: Computed<ActionFact>): Path {
    const { whenInvalid, whenMissing } = action.fact;
    const value = this.answers.value(action);
    const others = [
      ...(whenInvalid ? [refused(whenInvalid)] : []),
      ...(whenMissing === undefined ? [] : [{ description: 'Of a missing parameter.', const: whenMissing }]),
    ];
    return {
      parameters: [shared('id')],
      get: {
        ...this.reading(endpoint, name, titleOf(action.fact)),
        ...(action.field.description && { description: action.field.description }),
        parameters: fieldParameters(action.field),
        responses: {
          200: answered('The answer.', others.length ? { anyOf: [value, ...others] } : value),
          ...errors(...(action.field.args.length && !whenInvalid ? [400] : [])),
        },
      },
      options: metadata(endpoint.view.rest, endpoint.view.rest, name),
    };
  }

  private reading({ view, resource }: Endpoint, verb: string, summary: string): Operation {
    const { rest, description } = view;
    return {
      operationId: operationId(rest, verb),
      tags: [rest],
      summary,
      description,
      security: resource.owned ? READING : PUBLIC,
    };
  }

  private writing({ view: { rest } }: Endpoint, verb: string, summary: string): Operation {
    return {
      operationId: operationId(rest, verb),
      tags: [rest],
      summary,
      security: WRITING,
      parameters: [...REPRESENTATION, shared('idempotencyKey')],
    };
  }

  /** The methods that the address advertises, less those that nobody is permitted. */
  private writes({ view: { permits } }: Endpoint, path: string): readonly string[] {
    const found = findRoute(this.endpoints, BASE + path);
    const allow = found && found !== 'redirect' ? found.allow : [];
    return allow.filter((method) => permits?.includes(method) ?? true);
  }
}

/** The body that an action answers with when its parameters are wrong. */
function refused(values: Readonly<Record<string, unknown>>): Schema {
  const properties = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { const: value }]));
  return {
    type: 'object',
    description: 'Of wrong parameters.',
    properties: { ...properties, errors: component('field_errors') },
    required: [...Object.keys(properties), 'errors'],
  };
}
