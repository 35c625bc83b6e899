/** OpenAPI path items: methods, parameters, bodies and responses of each endpoint. */
import { type GraphQLSchema, parse, type OperationDefinitionNode } from 'graphql';
import type { ActionMetadata, EndpointMetadata } from '../../shared/metadata';
import type { GraphQLFieldEndpoint, ResourceEndpoint, Endpoints } from '../endpoints';
import { actionTitle } from '../drf/metadata';
import { LOGIN_RESPONSE_FIELD, LOGIN_HINT, LOGIN_PATH, LOGIN_TITLE } from '../drf/login';
import { API_BASE_PATH, findRoute } from '../routes';
import {
  jsonResponse,
  errorResponses,
  METADATA_RESPONSE,
  NOT_MODIFIED_RESPONSE,
  withETag,
} from './responses';
import type { ResponseSchemas } from './response-schemas';
import {
  requestBody,
  argumentSchema,
  schemaReference,
  withDescription,
  type JsonSchema,
} from './schemas';
import {
  argumentParameters,
  listRouteParameters,
  REPRESENTATION_PARAMETERS,
  parameterReference,
} from './parameters';

type OpenApiObject = Readonly<Record<string, unknown>>;
type PathItem = Record<string, unknown>;
export type PathItems = Record<string, PathItem>;

export const schemaNames = ({ view: { restName } }: ResourceEndpoint) => ({
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

/**
 * Creates an OpenAPI operation. Client generators derive function names from its id, so the id has
 * word characters only.
 */
const buildOperation = (
  tag: string,
  operationIdWords: readonly string[],
  summary: string,
  security: object[],
  otherProperties: OpenApiObject,
): OpenApiObject => ({
  operationId: operationIdWords.join('_').replace(/\W+/g, '_'),
  tags: [tag],
  summary,
  security,
  ...otherProperties,
});

const optionsOperation = (tag: string, ...operationIdWords: string[]): OpenApiObject =>
  buildOperation(tag, [...operationIdWords, 'options'], 'Endpoint metadata', PUBLIC_SECURITY, {
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
      '/': this.rootPathItem(),
      [`/${LOGIN_PATH}/`]: this.loginPathItem(),
      ...Object.fromEntries(
        [...this.endpoints.standaloneEndpoints].map(([path, endpoint]) => [
          `/${path}/`,
          this.standalonePathItem(path, endpoint),
        ]),
      ),
      ...Object.assign(
        {},
        ...[...this.endpoints.resources.values()].map((endpoint) =>
          this.resourcePathItems(endpoint),
        ),
      ),
    };
  }

  private rootPathItem(): PathItem {
    const links = Object.fromEntries(
      this.endpoints.apiRootResourceNames.map((name) => [name, { type: 'string', format: 'uri' }]),
    );
    const schema = {
      type: 'object',
      properties: links,
      required: this.endpoints.apiRootResourceNames,
    };

    return {
      get: buildOperation(
        GENERAL_TAG,
        ['root'],
        'The resources with the URLs of their lists',
        PUBLIC_SECURITY,
        {
          parameters: REPRESENTATION_PARAMETERS,
          responses: { 200: jsonResponse('The URLs.', schema), ...errorResponses() },
        },
      ),
      options: optionsOperation(GENERAL_TAG, 'root'),
    };
  }

  /**
   * Describes the login endpoint, whose request body consists of the arguments of the `login`
   * mutation.
   */
  private loginPathItem(): PathItem {
    const field = this.schema.getMutationType()!.getFields().login!;
    const { selectionSet } = parse(`{ ${LOGIN_RESPONSE_FIELD} }`)
      .definitions[0] as OperationDefinitionNode;
    const properties = Object.fromEntries(
      field.args.map(({ name, type, description }) => [
        name,
        withDescription(argumentSchema(type), description),
      ]),
    );
    const hintProperties = Object.fromEntries(
      Object.keys(LOGIN_HINT).map((key) => [key, { type: 'string' }]),
    );

    return {
      get: buildOperation(
        GENERAL_TAG,
        [LOGIN_PATH, 'hint'],
        `${LOGIN_TITLE}: instructions`,
        PUBLIC_SECURITY,
        {
          parameters: REPRESENTATION_PARAMETERS,
          responses: {
            200: jsonResponse('The instructions.', {
              type: 'object',
              properties: hintProperties,
              required: Object.keys(LOGIN_HINT),
            }),
            ...errorResponses(),
          },
        },
      ),
      post: buildOperation(
        GENERAL_TAG,
        [LOGIN_PATH],
        'Exchange a username and password for a token',
        [{}, ...WRITE_SECURITY],
        {
          parameters: REPRESENTATION_PARAMETERS,
          requestBody: requestBody({
            type: 'object',
            properties,
            required: Object.keys(properties),
          }),
          responses: {
            200: jsonResponse('The token.', this.responseSchemas.fieldSchema(field, selectionSet)),
            ...errorResponses(400, 401, 409, 413, 415, 429),
          },
        },
      ),
      options: optionsOperation(GENERAL_TAG, LOGIN_PATH),
    };
  }

  private standalonePathItem(
    path: string,
    endpoint: GraphQLFieldEndpoint<EndpointMetadata>,
  ): PathItem {
    const { metadata, field } = endpoint;
    const [firstSegment] = path.split('/');
    const tag = this.endpoints.resources.has(firstSegment!) ? firstSegment! : GENERAL_TAG;

    return {
      get: buildOperation(tag, [path], metadata.title, PUBLIC_SECURITY, {
        ...(field.description && { description: field.description }),
        parameters: argumentParameters(field),
        responses: {
          200: jsonResponse('The result.', this.responseSchemas.fieldResponseSchema(endpoint)),
          ...errorResponses(...(field.args.length ? [400] : [])),
        },
      }),
      options: optionsOperation(tag, path),
    };
  }

  private resourcePathItems(endpoint: ResourceEndpoint): PathItems {
    const { restName } = endpoint.view;
    const actions = [...endpoint.actions].map(([name, action]) => [
      `/${restName}/{id}/${name}/`,
      this.actionPathItem(endpoint, name, action),
    ]);

    return {
      [`/${restName}/`]: this.listPathItem(endpoint),
      [`/${restName}/{id}/`]: this.detailPathItem(endpoint),
      ...Object.fromEntries(actions),
    };
  }

  private listPathItem(endpoint: ResourceEndpoint): PathItem {
    const { view } = endpoint;
    const { row, page, body: bodyName } = schemaNames(endpoint);
    const usableMethods = this.usableMethods(endpoint, `/${view.restName}/`);

    return {
      get: this.buildReadOperation(endpoint, 'list', `${view.title} list`, {
        parameters: listRouteParameters(endpoint),
        responses: {
          200: jsonResponse('A page of rows.', schemaReference(page)),
          ...errorResponses(400),
        },
      }),
      ...(endpoint.create &&
        usableMethods.includes('POST') && {
          post: this.buildWriteOperation(endpoint, 'create', 'Create a row', [], {
            requestBody: requestBody(schemaReference(bodyName), endpoint),
            responses: {
              201: this.rowResponseObject(endpoint, 'The created row.', schemaReference(row)),
              ...errorResponses(400, 409, 413, 415, 422),
            },
          }),
        }),
      options: optionsOperation(view.restName, view.restName, 'list'),
    };
  }

  private detailPathItem(endpoint: ResourceEndpoint): PathItem {
    const { view } = endpoint;
    const { row, body: bodyName, change } = schemaNames(endpoint);
    const usableMethods = this.usableMethods(endpoint, `/${view.restName}/1/`);
    const hasVersion = endpoint.versionQuery !== undefined;
    const versionParameters = hasVersion ? [parameterReference('ifMatch')] : [];
    const versionStatus = hasVersion ? [412] : [];
    const bodyAndResponses = (name: string) => ({
      requestBody: requestBody(schemaReference(name), endpoint),
      responses: {
        200: this.rowResponseObject(endpoint, 'The updated row.', schemaReference(row)),
        ...errorResponses(400, 409, ...versionStatus, 413, 415, 422),
      },
    });

    return {
      parameters: [parameterReference('id')],
      get: this.buildReadOperation(endpoint, 'read', `${view.title} instance`, {
        parameters: [
          ...REPRESENTATION_PARAMETERS,
          ...(endpoint.versionQuery ? [parameterReference('ifNoneMatch')] : []),
        ],
        responses: {
          200: this.rowResponseObject(endpoint, 'The row.', schemaReference(row)),
          ...(endpoint.versionQuery && { 304: NOT_MODIFIED_RESPONSE }),
          ...errorResponses(),
        },
      }),
      ...(endpoint.update &&
        usableMethods.includes('PUT') && {
          put: this.buildWriteOperation(endpoint, 'replace', 'Replace a row', versionParameters, {
            description: 'Omitted optional fields keep their values.',
            ...bodyAndResponses(bodyName),
          }),
        }),
      ...(endpoint.update &&
        usableMethods.includes('PATCH') && {
          patch: this.buildWriteOperation(
            endpoint,
            'change',
            'Update fields of a row',
            versionParameters,
            bodyAndResponses(change),
          ),
        }),
      ...(endpoint.remove &&
        usableMethods.includes('DELETE') && {
          delete: this.buildWriteOperation(
            endpoint,
            'delete',
            'Delete a row and all rows that belong to it',
            versionParameters,
            {
              responses: {
                204: { description: 'The row was deleted.' },
                ...errorResponses(400, 409, ...versionStatus, 422),
              },
            },
          ),
        }),
      options: optionsOperation(view.restName, view.restName, 'instance'),
    };
  }

  private rowResponseObject(
    endpoint: ResourceEndpoint,
    description: string,
    schema: JsonSchema,
  ): OpenApiObject {
    const response = jsonResponse(description, schema);

    return endpoint.versionQuery ? withETag(response) : response;
  }

  private actionPathItem(
    endpoint: ResourceEndpoint,
    name: string,
    action: GraphQLFieldEndpoint<ActionMetadata>,
  ): PathItem {
    const { bodyWhenArgumentsInvalid, bodyWhenArgumentMissing } = action.metadata;
    const value = this.responseSchemas.fieldResponseSchema(action);
    const alternativeSchemas: JsonSchema[] = [];

    if (bodyWhenArgumentsInvalid) {
      alternativeSchemas.push(invalidParametersErrorSchema(bodyWhenArgumentsInvalid));
    }

    if (bodyWhenArgumentMissing !== undefined) {
      alternativeSchemas.push({
        description: 'Returned if a parameter is missing.',
        const: bodyWhenArgumentMissing,
      });
    }

    return {
      parameters: [parameterReference('id')],
      get: this.buildReadOperation(endpoint, name, actionTitle(action.metadata), {
        ...(action.field.description && { description: action.field.description }),
        parameters: argumentParameters(action.field),
        responses: {
          200: jsonResponse(
            'The result.',
            alternativeSchemas.length ? { anyOf: [value, ...alternativeSchemas] } : value,
          ),
          ...errorResponses(
            ...(action.field.args.length && !bodyWhenArgumentsInvalid ? [400] : []),
          ),
        },
      }),
      options: optionsOperation(endpoint.view.restName, endpoint.view.restName, name),
    };
  }

  private buildReadOperation(
    { view: { restName, description }, resource }: ResourceEndpoint,
    operationIdSuffix: string,
    summary: string,
    otherProperties: OpenApiObject,
  ): OpenApiObject {
    return buildOperation(
      restName,
      [restName, operationIdSuffix],
      summary,
      resource.isOwned ? READ_SECURITY : PUBLIC_SECURITY,
      {
        description,
        ...otherProperties,
      },
    );
  }

  private buildWriteOperation(
    { view: { restName } }: ResourceEndpoint,
    operationIdSuffix: string,
    summary: string,
    parameters: readonly object[],
    otherProperties: OpenApiObject,
  ): OpenApiObject {
    return buildOperation(restName, [restName, operationIdSuffix], summary, WRITE_SECURITY, {
      parameters: [
        ...REPRESENTATION_PARAMETERS,
        parameterReference('idempotencyKey'),
        ...parameters,
      ],
      ...otherProperties,
    });
  }

  /** HTTP methods of a route that at least some clients may use. */
  private usableMethods(
    { view: { permittedMethods } }: ResourceEndpoint,
    path: string,
  ): readonly string[] {
    const route = findRoute(this.endpoints, API_BASE_PATH + path);
    const allowedMethods = route && route !== 'redirect' ? route.allowedMethods : [];

    return allowedMethods.filter((method) => permittedMethods?.includes(method) ?? true);
  }
}

/** Schema of the 200 response with which some actions report invalid parameters. */
function invalidParametersErrorSchema(values: Readonly<Record<string, unknown>>): JsonSchema {
  const properties = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, { const: value }]),
  );

  return {
    type: 'object',
    description: 'Returned if parameters are invalid.',
    properties: { ...properties, errors: schemaReference('field_errors') },
    required: [...Object.keys(properties), 'errors'],
  };
}
