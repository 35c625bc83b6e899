/**
 * OpenAPI 3.1 document of the REST API, derived from the GraphQL schema. It is built on first
 * request.
 */
import type { GraphQLSchema } from 'graphql';
import { stringify } from 'yaml';
import { memoize } from '../../shared/memoize';
import {
  deriveEndpoints,
  type ResourceEndpoint,
  type Endpoints,
  type PrepareOperation,
} from '../endpoints';
import { SHARED_RESPONSES, METADATA_AND_ERROR_SCHEMAS } from './responses';
import { ResponseSchemas } from './response-schemas';
import { bodySchema, schemaReference, type JsonSchema } from './schemas';
import { SHARED_PARAMETERS } from './parameters';
import { schemaNames, GENERAL_TAG, PathItemsBuilder, type PathItems } from './paths';
import { API_BASE_PATH } from '../routes';

export interface OpenApiDocument {
  openapi: string;
  info: object;
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  security: object[];
  paths: PathItems;
  components: { schemas: Record<string, JsonSchema> } & Record<string, object>;
}

const API_INFO = {
  title: 'Fitgraph REST API',
  version: '2.0',
  description: [
    'Workouts, nutrition and body weight.',
    '',
    'URLs end in a slash; requests without it are redirected. HEAD is supported wherever GET is. The header `Accept`, the parameter `format` or',
    'a suffix such as `.json` in place of the final slash selects the format; `Accept: application/json; indent=2` returns indented JSON. This',
    'document describes the JSON responses. With `Accept: text/html`, every URL returns a web page instead.',
    '',
    'Personal data is visible to its owner only: rows of other users return 404. Failed authentication returns 403.',
  ].join('\n'),
};

const TOKEN_SECURITY_SCHEME = {
  type: 'apiKey',
  in: 'header',
  name: 'Authorization',
  description: 'The API key as `Token 0123456789abcdef…`, or an access token as `Bearer fgt_…`.',
};

export interface SessionAuthNames {
  cookieName: string;
  csrfHeaderName: string;
}

const sessionSecuritySchemes = ({ cookieName, csrfHeaderName }: SessionAuthNames) => ({
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: cookieName,
    description: 'Session cookie of a browser that is signed in at `/login`.',
  },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: csrfHeaderName,
    description:
      'CSRF token, required for writes with a session cookie: in this header or in the form field `csrfToken`. HTML pages contain it.',
  },
});

/** Prepares operations that are never executed: the OpenAPI document is derived from their text. */
const prepareTextOnly: PrepareOperation = () => () =>
  Promise.reject(new Error('an operation of the document was run'));

function buildOpenApi(
  schema: GraphQLSchema,
  session: SessionAuthNames,
): Omit<OpenApiDocument, 'servers'> {
  const endpoints = sortInApiRootOrder(deriveEndpoints(schema, prepareTextOnly));
  const resourceEndpoints = [...endpoints.resources.values()];
  const responseSchemas = new ResponseSchemas(endpoints);
  const paths = new PathItemsBuilder(schema, endpoints, responseSchemas).build();

  return {
    openapi: '3.1.1',
    info: API_INFO,
    tags: [
      { name: GENERAL_TAG, description: 'Endpoints that belong to no resource.' },
      ...resourceEndpoints.map(({ view }) => ({
        name: view.restName,
        description: view.description,
      })),
    ],
    security: [{}, { token: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: { token: TOKEN_SECURITY_SCHEME, ...sessionSecuritySchemes(session) },
      parameters: SHARED_PARAMETERS,
      responses: SHARED_RESPONSES,
      schemas: Object.assign(
        {},
        METADATA_AND_ERROR_SCHEMAS,
        ...resourceEndpoints.map((endpoint) => componentSchemas(endpoint, responseSchemas, paths)),
      ),
    },
  };
}

/** Sorts resources in the order of the API root; unlisted ones come last. */
function sortInApiRootOrder(endpoints: Endpoints): Endpoints {
  const { resources, apiRootResourceNames } = endpoints;
  const names = [...new Set([...apiRootResourceNames, ...resources.keys()])];

  return { ...endpoints, resources: new Map(names.map((name) => [name, resources.get(name)!])) };
}

/** Component schemas of an endpoint. Request bodies are included only if a method takes them. */
function componentSchemas(
  endpoint: ResourceEndpoint,
  responseSchemas: ResponseSchemas,
  paths: PathItems,
): Record<string, JsonSchema> {
  const { row, page, body, change } = schemaNames(endpoint);
  const listPathItem = paths[`/${row}/`]!;
  const detailPathItem = paths[`/${row}/{id}/`]!;

  return {
    [row]: responseSchemas.rowSchema(endpoint),
    [page]: pageSchema(schemaReference(row)),
    ...((listPathItem.post ?? detailPathItem.put) !== undefined && {
      [body]: bodySchema(endpoint, false),
    }),
    ...(detailPathItem.patch !== undefined && { [change]: bodySchema(endpoint, true) }),
  };
}

const pageSchema = (row: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: {
    count: { type: 'integer', minimum: 0, description: 'Total number of rows on all pages.' },
    next: {
      type: ['string', 'null'],
      format: 'uri',
      description: 'URL of the next page; null on the last page.',
    },
    previous: {
      type: ['string', 'null'],
      format: 'uri',
      description: 'URL of the previous page; null on the first page.',
    },
    results: { type: 'array', items: row },
  },
  required: ['count', 'next', 'previous', 'results'],
});

/**
 * Serializes the OpenAPI document as JSON or YAML. Only its server URL differs between requests;
 * the rest is serialized once, because that is slow.
 */
export function openApiSerializers(
  schema: GraphQLSchema,
  session: SessionAuthNames,
): Record<'json' | 'yaml', (baseUrl: string) => string> {
  const document = memoize(() => buildOpenApi(schema, session));
  const documentHead = (baseUrl: string) => ({
    openapi: document().openapi,
    info: document().info,
    servers: [{ url: baseUrl + API_BASE_PATH }],
  });

  const documentBody = () => {
    const { openapi: _, info: __, ...others } = document();

    return others;
  };

  const json = memoize(() => JSON.stringify(documentBody()));
  const yaml = memoize(() => toYaml(documentBody()));

  return {
    json: (baseUrl) => `${JSON.stringify(documentHead(baseUrl)).slice(0, -1)},${json().slice(1)}`,
    yaml: (baseUrl) => toYaml(documentHead(baseUrl)) + yaml(),
  };
}

/**
 * Serializes a value as YAML without aliases for repeated objects, which some OpenAPI parsers do
 * not support.
 */
const toYaml = (value: unknown) =>
  stringify(value, { aliasDuplicateObjects: false, lineWidth: 140 });
