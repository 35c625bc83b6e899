/** OpenAPI response objects shared by all paths: errors and OPTIONS metadata. */
import { MEDIA_TYPE_BY_FORMAT } from '../drf/negotiation';
import { preconditionFailedError } from '../preconditions';
import {
  validationError,
  notAcceptableError,
  methodNotAllowedError,
  notFoundError,
  notSignedInError,
  RestError,
  bodyTooLargeError,
  unsupportedMediaTypeError,
} from '../errors';
import { schemaReference, type JsonSchema } from './schemas';

type ResponseObject = Readonly<Record<string, unknown>>;

const STRING_LIST_SCHEMA: JsonSchema = { type: 'array', items: { type: 'string' } };

export const METADATA_AND_ERROR_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  detail: {
    type: 'object',
    description: 'Error message.',
    properties: { detail: { type: 'string' } },
    required: ['detail'],
  },
  field_errors: {
    type: 'object',
    description:
      'Validation errors by field or parameter. Errors that concern several fields are under `non_field_errors`.',
    additionalProperties: { type: 'array', items: { type: 'string' }, minItems: 1 },
  },
  metadata: {
    type: 'object',
    description: 'Metadata of an endpoint.',
    properties: {
      name: { type: 'string' },
      description: { type: 'string' },
      renders: STRING_LIST_SCHEMA,
      parses: STRING_LIST_SCHEMA,
      actions: {
        type: 'object',
        description: 'Fields that the client may send, by HTTP method.',
        additionalProperties: { type: 'object', additionalProperties: schemaReference('field') },
      },
      fields: {
        type: 'object',
        description: 'Fields of the response.',
        additionalProperties: schemaReference('field'),
      },
    },
    required: ['name', 'description', 'renders', 'parses'],
  },
  field: {
    type: 'object',
    description: 'Metadata of a field.',
    properties: {
      type: { type: 'string' },
      required: { type: 'boolean' },
      read_only: { type: 'boolean' },
      label: { type: 'string' },
      help_text: { type: 'string' },
      min_length: { type: 'integer' },
      max_length: { type: 'integer' },
      min_value: { type: 'number' },
      max_value: { type: 'number' },
      choices: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            value: { type: ['string', 'null'] },
            display_name: { type: ['string', 'number'] },
          },
          required: ['value', 'display_name'],
        },
      },
      child: schemaReference('field'),
      children: { type: 'object', additionalProperties: schemaReference('field') },
    },
    required: ['type', 'required', 'read_only'],
  },
};

const jsonContent = (schema: JsonSchema, example?: unknown) => ({
  [MEDIA_TYPE_BY_FORMAT.json]: { schema, ...(example !== undefined && { example }) },
});

export const jsonResponse = (description: string, schema: JsonSchema): ResponseObject => ({
  description,
  content: jsonContent(schema),
});

const errorResponse = (
  description: string,
  { body }: RestError,
  headers?: ResponseObject,
): ResponseObject => ({
  description,
  ...(headers && { headers }),
  content: jsonContent(schemaReference('detail'), body),
});

const ETAG_HEADER = {
  ETag: {
    description: 'Version of the row, for `If-Match` and `If-None-Match`.',
    schema: { type: 'string' },
  },
};

export const withETag = (response: ResponseObject): ResponseObject => ({
  ...response,
  headers: ETAG_HEADER,
});

export const NOT_MODIFIED_RESPONSE: ResponseObject = {
  description: 'The row still has the version in `If-None-Match`.',
  headers: ETAG_HEADER,
};

/**
 * Error responses by HTTP status. Most examples come from the functions that create the errors, so
 * that they agree with actual responses.
 */
const ERROR_RESPONSES: Readonly<Record<number, ResponseObject>> = {
  400: {
    description: 'Invalid fields or parameters, or a malformed body.',
    content: jsonContent(
      { anyOf: [schemaReference('field_errors'), schemaReference('detail')] },
      validationError({ non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] })
        .body,
    ),
  },
  401: errorResponse(
    'Wrong username or password.',
    new RestError(401, { detail: 'Username or password unknown' }),
  ),
  403: errorResponse(
    'Missing or invalid credentials, or insufficient permissions.',
    notSignedInError(),
  ),
  404: errorResponse(
    'The row or the format does not exist, or the row is not visible to the client.',
    notFoundError(),
  ),
  405: errorResponse(
    'Unsupported method. `Allow` lists the supported ones.',
    methodNotAllowedError('PUT'),
  ),
  406: {
    description: 'No acceptable format is available.',
    content: jsonContent(schemaReference('detail'), notAcceptableError().body),
  },
  409: errorResponse(
    'Conflict with concurrent writes, or the `Idempotency-Key` is in use, or (`login`) the token cannot be decrypted. The message says whether to retry.',
    new RestError(409, {
      detail: 'A request with this Idempotency-Key is still running. Send it again in a moment.',
    }),
    {
      'Retry-After': {
        description: 'Seconds to wait before retrying, if a retry may succeed.',
        schema: { type: 'integer' },
      },
    },
  ),
  412: errorResponse(
    'The version of the row does not match `If-Match`.',
    preconditionFailedError(),
  ),
  413: errorResponse('The body is too large.', bodyTooLargeError()),
  415: errorResponse(
    'Unsupported media type of the body.',
    unsupportedMediaTypeError('text/plain'),
  ),
  422: errorResponse(
    'The `Idempotency-Key` was used for another request.',
    new RestError(422, { detail: 'This Idempotency-Key was used for another request.' }),
  ),
  429: errorResponse(
    'Too many requests.',
    new RestError(429, { detail: 'Request was throttled. Expected available in 60 seconds.' }),
    {
      'Retry-After': {
        description: 'Seconds to wait before the next request.',
        schema: { type: 'integer' },
      },
    },
  ),
  503: errorResponse(
    'The request takes too long.',
    new RestError(503, { detail: 'This takes too long.' }),
  ),
};

export const SHARED_RESPONSES: Readonly<Record<string, ResponseObject>> = {
  ...Object.fromEntries(
    Object.entries(ERROR_RESPONSES).map(([status, response]) => [`error_${status}`, response]),
  ),
  metadata: {
    description: 'Endpoint metadata.',
    content: jsonContent(schemaReference('metadata')),
  },
};

/**
 * References to the error responses with these statuses and to the error responses of every path.
 */
export const errorResponses = (...statuses: number[]): Record<string, ResponseObject> =>
  Object.fromEntries(
    [...new Set([...statuses, 403, 404, 405, 406, 429, 503])]
      .sort((a, b) => a - b)
      .map((status) => [String(status), { $ref: `#/components/responses/error_${status}` }]),
  );

export const METADATA_RESPONSE: ResponseObject = { $ref: '#/components/responses/metadata' };
