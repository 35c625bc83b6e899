/** OpenAPI path items: methods, parameters, bodies and responses of each endpoint. */
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

/** Security requirements; writes with a session cookie need the CSRF token as well. */
const READ_SECURITY = [{ token: [] }, { session: [] }];
const WRITE_SECURITY = [{ token: [] }, { session: [], csrf: [] }];
const PUBLIC_SECURITY = [{}, ...READ_SECURITY];

/** Client generators derive function names from the operation id, so it has word characters only. */
const operationId = (...words: string[]) => words.join('_').replace(/\W+/g, '_');

const optionsOperation = (tag: string, ...words: string[]): Operation => ({
  operationId: operationId(...words, 'options'),
  tags: [tag],
  summary: 'What the address is and takes',
  security: PUBLIC_SECURITY,
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
        security: PUBLIC_SECURITY,
        parameters: [...REPRESENTATION],
        responses: { 200: answered('The addresses.', schema), ...errors() },
      },
      options: optionsOperation(GENERAL, 'root'),
    };
  }

  /** The login body consists of the arguments of the `login` mutation. */
  private login(): Path {
    const field = this.schema.getMutationType()!.getFields().login!;
    const { selectionSet } = parse(`{ ${ANSWER} }`).definitions[0] as OperationDefinitionNode;
    const properties = Object.fromEntries(field.args.map(({ name, type, description }) => [name, described(argument(type), description)]));
    const hint = Object.fromEntries(Object.keys(HINT).map((key) => [key, { type: 'string' }]));
    const common = { tags: [GENERAL], parameters: [...REPRESENTATION] };
    return {
      get: {
        ...common,
        security: PUBLIC_SECURITY,
        operationId: operationId(PATH, 'hint'),
        summary: `${TITLE}: how it is done`,
        responses: { 200: answered('What to send.', { type: 'object', properties: hint, required: Object.keys(HINT) }), ...errors() },
      },
      post: {
        ...common,
        security: [{}, ...WRITE_SECURITY],
        operationId: operationId(PATH),
        summary: 'A token for a name and a password',
        requestBody: body({ type: 'object', properties, required: Object.keys(properties) }),
        responses: { 200: answered('The token.', this.answers.selected(field, selectionSet)), ...errors(400, 401, 413, 415, 429) },
      },
      options: optionsOperation(GENERAL, PATH),
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
        security: PUBLIC_SECURITY,
        parameters: fieldParameters(field),
        responses: { 200: answered('The answer.', this.answers.value(endpoint)), ...errors(...(field.args.length ? [400] : [])) },
      },
      options: optionsOperation(tag, path),
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
    const permittedMethods = this.permittedMethods(endpoint, `/${view.rest}/`);
    return {
      get: {
        ...this.readOperation(endpoint, 'list', `${view.title} list`),
        parameters: listParameters(endpoint),
        responses: { 200: answered('A page of rows.', component(page)), ...errors(400) },
      },
      ...(endpoint.create &&
        permittedMethods.includes('POST') && {
          post: {
            ...this.writeOperation(endpoint, 'create', 'Make a row'),
            requestBody: body(component(bodyName), endpoint),
            responses: { 201: this.rowResponse(endpoint, 'The new row.', component(row)), ...errors(400, 409, 413, 415) },
          },
        }),
      options: optionsOperation(view.rest, view.rest, 'list'),
    };
  }

  private detail(endpoint: Endpoint): Path {
    const { view } = endpoint;
    const { row, body: bodyName, change } = componentsOf(endpoint);
    const permittedMethods = this.permittedMethods(endpoint, `/${view.rest}/1/`);
    const { parameters, status } = endpoint.version ? { parameters: [shared('ifMatch')], status: [412] } : { parameters: [], status: [] };
    const conditionalWrite = (verb: string, summary: string) => {
      const operation = this.writeOperation(endpoint, verb, summary);
      return { ...operation, parameters: [...(operation.parameters as unknown[]), ...parameters] };
    };
    const bodyAndResponses = (name: string) => ({
      requestBody: body(component(name), endpoint),
      responses: { 200: this.rowResponse(endpoint, 'The row as it is now.', component(row)), ...errors(400, 409, ...status, 413, 415) },
    });
    return {
      parameters: [shared('id')],
      get: {
        ...this.readOperation(endpoint, 'read', `${view.title} instance`),
        parameters: [...REPRESENTATION, ...(endpoint.version ? [shared('ifNoneMatch')] : [])],
        responses: {
          200: this.rowResponse(endpoint, 'The row.', component(row)),
          ...(endpoint.version && { 304: NOT_MODIFIED }),
          ...errors(),
        },
      },
      ...(endpoint.update &&
        permittedMethods.includes('PUT') && {
          put: {
            ...conditionalWrite('replace', 'Write a row anew'),
            description: 'Optional fields that are left out stay as they are.',
            ...bodyAndResponses(bodyName),
          },
        }),
      ...(endpoint.update &&
        permittedMethods.includes('PATCH') && {
          patch: { ...conditionalWrite('change', 'Change fields of a row'), ...bodyAndResponses(change) },
        }),
      ...(endpoint.remove &&
        permittedMethods.includes('DELETE') && {
          delete: {
            ...conditionalWrite('delete', 'Delete a row and what hangs below it'),
            responses: { 204: { description: 'The row is gone.' }, ...errors(400, 409, ...status) },
          },
        }),
      options: optionsOperation(view.rest, view.rest, 'instance'),
    };
  }

  private rowResponse(endpoint: Endpoint, description: string, schema: Schema): Operation {
    const response = answered(description, schema);
    return endpoint.version ? versioned(response) : response;
  }

  private action(endpoint: Endpoint, name: string, action: Computed<ActionFact>): Path {
    const { whenInvalid, whenMissing } = action.fact;
    const value = this.answers.value(action);
    const alternatives = [
      ...(whenInvalid ? [invalidParametersSchema(whenInvalid)] : []),
      ...(whenMissing === undefined ? [] : [{ description: 'Of a missing parameter.', const: whenMissing }]),
    ];
    return {
      parameters: [shared('id')],
      get: {
        ...this.readOperation(endpoint, name, titleOf(action.fact)),
        ...(action.field.description && { description: action.field.description }),
        parameters: fieldParameters(action.field),
        responses: {
          200: answered('The answer.', alternatives.length ? { anyOf: [value, ...alternatives] } : value),
          ...errors(...(action.field.args.length && !whenInvalid ? [400] : [])),
        },
      },
      options: optionsOperation(endpoint.view.rest, endpoint.view.rest, name),
    };
  }

  private readOperation({ view, resource }: Endpoint, verb: string, summary: string): Operation {
    const { rest, description } = view;
    return {
      operationId: operationId(rest, verb),
      tags: [rest],
      summary,
      description,
      security: resource.owned ? READ_SECURITY : PUBLIC_SECURITY,
    };
  }

  private writeOperation({ view: { rest } }: Endpoint, verb: string, summary: string): Operation {
    return {
      operationId: operationId(rest, verb),
      tags: [rest],
      summary,
      security: WRITE_SECURITY,
      parameters: [...REPRESENTATION, shared('idempotencyKey')],
    };
  }

  /** The methods in the route's Allow header, without those that the view permits to nobody. */
  private permittedMethods({ view: { permits } }: Endpoint, path: string): readonly string[] {
    const route = findRoute(this.endpoints, BASE + path);
    const allow = route && route !== 'redirect' ? route.allow : [];
    return allow.filter((method) => permits?.includes(method) ?? true);
  }
}

/** Schema of the 200 response of an action that reports invalid parameters in its body. */
function invalidParametersSchema(values: Readonly<Record<string, unknown>>): Schema {
  const properties = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { const: value }]));
  return {
    type: 'object',
    description: 'Of wrong parameters.',
    properties: { ...properties, errors: component('field_errors') },
    required: [...Object.keys(properties), 'errors'],
  };
}
