/** OpenAPI path items: methods, parameters, bodies and responses of each endpoint. */
import type { GraphQLSchema } from 'graphql';
import { parse, type OperationDefinitionNode } from 'graphql';
import type { ActionMetadata, EndpointMetadata } from '../../contract/metadata';
import type { ComputedEndpoint, Endpoint, Endpoints } from '../endpoints';
import { actionTitle } from '../dialect/metadata';
import { LOGIN_RESPONSE_FIELD, LOGIN_HINT, LOGIN_PATH, LOGIN_TITLE } from '../dialect/login';
import { API_BASE_PATH, findRoute } from '../routes';
import { jsonResponse, errorResponses, METADATA_RESPONSE, NOT_MODIFIED_RESPONSE, withETag } from './responses';
import type { ResponseSchemas } from './responseschemas';
import { requestBody } from './requestbodies';
import { argumentParametersOf, listParameters, REPRESENTATION_PARAMETERS, sharedParameter } from './parameters';
import { argumentSchema, schemaReference, withDescription, type JsonSchema } from './schemas';

type Operation = Readonly<Record<string, unknown>>;
type PathItem = Record<string, unknown>;
export type PathItems = Record<string, PathItem>;

export const schemaComponentNamesOf = ({ view: { restName } }: Endpoint) => ({
  row: restName,
  page: `${restName}.page`,
  body: `${restName}.body`,
  change: `${restName}.change`,
});

export const GENERAL_TAG = 'general';

/** OpenAPI security requirements. Writes with a session cookie need the CSRF token as well. */
const READ_SECURITY = [{ token: [] }, { session: [] }];
const WRITE_SECURITY = [{ token: [] }, { session: [], csrf: [] }];
const PUBLIC_SECURITY = [{}, ...READ_SECURITY];

/** Creates an OpenAPI operation. Client generators derive function names from its id, which joins `words` and has word characters only. */
const createOperation = (tag: string, words: readonly string[], summary: string, security: object[], others: Operation): Operation => ({
  operationId: words.join('_').replace(/\W+/g, '_'),
  tags: [tag],
  summary,
  security,
  ...others,
});

const optionsOperation = (tag: string, ...words: string[]): Operation =>
  createOperation(tag, [...words, 'options'], 'Endpoint metadata', PUBLIC_SECURITY, {
    responses: { 200: METADATA_RESPONSE, ...errorResponses() },
  });

export class PathItemsBuilder {
  constructor(
    private readonly schema: GraphQLSchema,
    private readonly endpoints: Endpoints,
    private readonly responseSchemas: ResponseSchemas,
  ) {}

  build(): PathItems {
    return {
      '/': this.rootItem(),
      [`/${LOGIN_PATH}/`]: this.loginItem(),
      ...Object.fromEntries(
        [...this.endpoints.standaloneEndpoints].map(([path, endpoint]) => [`/${path}/`, this.standaloneItem(path, endpoint)]),
      ),
      ...Object.assign({}, ...[...this.endpoints.resources.values()].map((endpoint) => this.resourceItems(endpoint))),
    };
  }

  private rootItem(): PathItem {
    const links = Object.fromEntries(this.endpoints.apiRootNames.map((name) => [name, { type: 'string', format: 'uri' }]));
    const schema = { type: 'object', properties: links, required: this.endpoints.apiRootNames };
    return {
      get: createOperation(GENERAL_TAG, ['root'], 'The resources with the URLs of their lists', PUBLIC_SECURITY, {
        parameters: REPRESENTATION_PARAMETERS,
        responses: { 200: jsonResponse('The URLs.', schema), ...errorResponses() },
      }),
      options: optionsOperation(GENERAL_TAG, 'root'),
    };
  }

  /** Describes the login endpoint. Its request body consists of the arguments of the `login` mutation. */
  private loginItem(): PathItem {
    const field = this.schema.getMutationType()!.getFields().login!;
    const { selectionSet } = parse(`{ ${LOGIN_RESPONSE_FIELD} }`).definitions[0] as OperationDefinitionNode;
    const properties = Object.fromEntries(
      field.args.map(({ name, type, description }) => [name, withDescription(argumentSchema(type), description)]),
    );
    const hint = Object.fromEntries(Object.keys(LOGIN_HINT).map((key) => [key, { type: 'string' }]));
    return {
      get: createOperation(GENERAL_TAG, [LOGIN_PATH, 'hint'], `${LOGIN_TITLE}: instructions`, PUBLIC_SECURITY, {
        parameters: REPRESENTATION_PARAMETERS,
        responses: {
          200: jsonResponse('The instructions.', { type: 'object', properties: hint, required: Object.keys(LOGIN_HINT) }),
          ...errorResponses(),
        },
      }),
      post: createOperation(GENERAL_TAG, [LOGIN_PATH], 'Exchange a username and password for a token', [{}, ...WRITE_SECURITY], {
        parameters: REPRESENTATION_PARAMETERS,
        requestBody: requestBody({ type: 'object', properties, required: Object.keys(properties) }),
        responses: {
          200: jsonResponse('The token.', this.responseSchemas.fieldSchema(field, selectionSet)),
          ...errorResponses(400, 401, 409, 413, 415, 429),
        },
      }),
      options: optionsOperation(GENERAL_TAG, LOGIN_PATH),
    };
  }

  private standaloneItem(path: string, endpoint: ComputedEndpoint<EndpointMetadata>): PathItem {
    const { metadata, field } = endpoint;
    const [first] = path.split('/');
    const tag = this.endpoints.resources.has(first!) ? first! : GENERAL_TAG;
    return {
      get: createOperation(tag, [path], metadata.title, PUBLIC_SECURITY, {
        ...(field.description && { description: field.description }),
        parameters: argumentParametersOf(field),
        responses: {
          200: jsonResponse('The result.', this.responseSchemas.computedSchema(endpoint)),
          ...errorResponses(...(field.args.length ? [400] : [])),
        },
      }),
      options: optionsOperation(tag, path),
    };
  }

  private resourceItems(endpoint: Endpoint): PathItems {
    const { restName } = endpoint.view;
    const actions = [...endpoint.actions].map(([name, action]) => [`/${restName}/{id}/${name}/`, this.actionItem(endpoint, name, action)]);
    return {
      [`/${restName}/`]: this.listItem(endpoint),
      [`/${restName}/{id}/`]: this.detailItem(endpoint),
      ...Object.fromEntries(actions),
    };
  }

  private listItem(endpoint: Endpoint): PathItem {
    const { view } = endpoint;
    const { row, page, body: bodyName } = schemaComponentNamesOf(endpoint);
    const permittedMethods = this.permittedMethods(endpoint, `/${view.restName}/`);
    return {
      get: this.readOperation(endpoint, 'list', `${view.title} list`, {
        parameters: listParameters(endpoint),
        responses: { 200: jsonResponse('A page of rows.', schemaReference(page)), ...errorResponses(400) },
      }),
      ...(endpoint.create &&
        permittedMethods.includes('POST') && {
          post: this.writeOperation(endpoint, 'create', 'Create a row', [], {
            requestBody: requestBody(schemaReference(bodyName), endpoint),
            responses: {
              201: this.rowResponse(endpoint, 'The created row.', schemaReference(row)),
              ...errorResponses(400, 409, 413, 415, 422),
            },
          }),
        }),
      options: optionsOperation(view.restName, view.restName, 'list'),
    };
  }

  private detailItem(endpoint: Endpoint): PathItem {
    const { view } = endpoint;
    const { row, body: bodyName, change } = schemaComponentNamesOf(endpoint);
    const permittedMethods = this.permittedMethods(endpoint, `/${view.restName}/1/`);
    const { parameters, status } = endpoint.versionQuery
      ? { parameters: [sharedParameter('ifMatch')], status: [412] }
      : { parameters: [], status: [] };
    const bodyAndResponses = (name: string) => ({
      requestBody: requestBody(schemaReference(name), endpoint),
      responses: {
        200: this.rowResponse(endpoint, 'The updated row.', schemaReference(row)),
        ...errorResponses(400, 409, ...status, 413, 415, 422),
      },
    });
    return {
      parameters: [sharedParameter('id')],
      get: this.readOperation(endpoint, 'read', `${view.title} instance`, {
        parameters: [...REPRESENTATION_PARAMETERS, ...(endpoint.versionQuery ? [sharedParameter('ifNoneMatch')] : [])],
        responses: {
          200: this.rowResponse(endpoint, 'The row.', schemaReference(row)),
          ...(endpoint.versionQuery && { 304: NOT_MODIFIED_RESPONSE }),
          ...errorResponses(),
        },
      }),
      ...(endpoint.update &&
        permittedMethods.includes('PUT') && {
          put: this.writeOperation(endpoint, 'replace', 'Replace a row', parameters, {
            description: 'Omitted optional fields keep their values.',
            ...bodyAndResponses(bodyName),
          }),
        }),
      ...(endpoint.update &&
        permittedMethods.includes('PATCH') && {
          patch: this.writeOperation(endpoint, 'change', 'Update fields of a row', parameters, bodyAndResponses(change)),
        }),
      ...(endpoint.remove &&
        permittedMethods.includes('DELETE') && {
          delete: this.writeOperation(endpoint, 'delete', 'Delete a row and all rows that belong to it', parameters, {
            responses: { 204: { description: 'The row was deleted.' }, ...errorResponses(400, 409, ...status, 422) },
          }),
        }),
      options: optionsOperation(view.restName, view.restName, 'instance'),
    };
  }

  private rowResponse(endpoint: Endpoint, description: string, schema: JsonSchema): Operation {
    const response = jsonResponse(description, schema);
    return endpoint.versionQuery ? withETag(response) : response;
  }

  private actionItem(endpoint: Endpoint, name: string, action: ComputedEndpoint<ActionMetadata>): PathItem {
    const { bodyWhenArgumentsInvalid, bodyWhenArgumentMissing } = action.metadata;
    const value = this.responseSchemas.computedSchema(action);
    const alternatives = [
      ...(bodyWhenArgumentsInvalid ? [invalidParametersSchema(bodyWhenArgumentsInvalid)] : []),
      ...(bodyWhenArgumentMissing === undefined
        ? []
        : [{ description: 'Returned if a parameter is missing.', const: bodyWhenArgumentMissing }]),
    ];
    return {
      parameters: [sharedParameter('id')],
      get: this.readOperation(endpoint, name, actionTitle(action.metadata), {
        ...(action.field.description && { description: action.field.description }),
        parameters: argumentParametersOf(action.field),
        responses: {
          200: jsonResponse('The result.', alternatives.length ? { anyOf: [value, ...alternatives] } : value),
          ...errorResponses(...(action.field.args.length && !bodyWhenArgumentsInvalid ? [400] : [])),
        },
      }),
      options: optionsOperation(endpoint.view.restName, endpoint.view.restName, name),
    };
  }

  private readOperation(
    { view: { restName, description }, resource }: Endpoint,
    verb: string,
    summary: string,
    others: Operation,
  ): Operation {
    return createOperation(restName, [restName, verb], summary, resource.isOwned ? READ_SECURITY : PUBLIC_SECURITY, {
      description,
      ...others,
    });
  }

  private writeOperation(
    { view: { restName } }: Endpoint,
    verb: string,
    summary: string,
    parameters: readonly object[],
    others: Operation,
  ): Operation {
    return createOperation(restName, [restName, verb], summary, WRITE_SECURITY, {
      parameters: [...REPRESENTATION_PARAMETERS, sharedParameter('idempotencyKey'), ...parameters],
      ...others,
    });
  }

  /** Returns the HTTP methods in the Allow header of a route, except for methods that no client may use. */
  private permittedMethods({ view: { permittedMethods } }: Endpoint, path: string): readonly string[] {
    const route = findRoute(this.endpoints, API_BASE_PATH + path);
    const allowedMethods = route && route !== 'redirect' ? route.allowedMethods : [];
    return allowedMethods.filter((method) => permittedMethods?.includes(method) ?? true);
  }
}

/** Returns the schema of the 200 response with which some actions report invalid parameters. */
function invalidParametersSchema(values: Readonly<Record<string, unknown>>): JsonSchema {
  const properties = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { const: value }]));
  return {
    type: 'object',
    description: 'Returned if parameters are invalid.',
    properties: { ...properties, errors: schemaReference('field_errors') },
    required: [...Object.keys(properties), 'errors'],
  };
}
