/** OpenAPI response objects shared by all paths: errors and OPTIONS metadata. */
import { MEDIA_TYPE_BY_FORMAT } from '../dialect/negotiation';
import { preconditionFailed } from '../preconditions';
import {
  validationError,
  notAcceptable,
  methodNotAllowed,
  notFound,
  notSignedIn,
  RestError,
  bodyTooLarge,
  unsupportedMediaType,
} from '../errors';
import { schemaReference, type JsonSchema } from './schemas';

type Response = Readonly<Record<string, unknown>>;

const DETAIL: JsonSchema = {
  type: 'object',
  description: 'What is wrong.',
  properties: { detail: { type: 'string' } },
  required: ['detail'],
};

const FIELD_ERRORS: JsonSchema = {
  type: 'object',
  description: 'What is wrong, by field or parameter; under `non_field_errors` what is wrong of several together.',
  additionalProperties: { type: 'array', items: { type: 'string' }, minItems: 1 },
};

const STRING_LIST: JsonSchema = { type: 'array', items: { type: 'string' } };

const METADATA: JsonSchema = {
  type: 'object',
  description: 'What an address is and takes.',
  properties: {
    name: { type: 'string' },
    description: { type: 'string' },
    renders: STRING_LIST,
    parses: STRING_LIST,
    actions: {
      type: 'object',
      description: 'By method, the fields that the caller may send.',
      additionalProperties: { type: 'object', additionalProperties: schemaReference('field') },
    },
    fields: { type: 'object', description: 'The fields that are shown.', additionalProperties: schemaReference('field') },
  },
  required: ['name', 'description', 'renders', 'parses'],
};

const FIELD: JsonSchema = {
  type: 'object',
  description: 'What is true of a field.',
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
        properties: { value: { type: ['string', 'null'] }, display_name: { type: ['string', 'number'] } },
        required: ['value', 'display_name'],
      },
    },
    child: schemaReference('field'),
    children: { type: 'object', additionalProperties: schemaReference('field') },
  },
  required: ['type', 'required', 'read_only'],
};

export const METADATA_AND_ERROR_SCHEMAS = { detail: DETAIL, field_errors: FIELD_ERRORS, metadata: METADATA, field: FIELD };

const jsonContent = (schema: JsonSchema, example?: unknown) => ({
  [MEDIA_TYPE_BY_FORMAT.json]: { schema, ...(example !== undefined && { example }) },
});

export const jsonResponse = (description: string, schema: JsonSchema): Response => ({ description, content: jsonContent(schema) });

const errorResponse = (description: string, { body }: RestError, headers?: Response): Response => ({
  description,
  ...(headers && { headers }),
  content: jsonContent(schemaReference('detail'), body),
});

const ETAG_HEADER = {
  ETag: { description: 'The version of the row. `If-Match` and `If-None-Match` take it.', schema: { type: 'string' } },
};

/** Adds the ETag header to the response object of a single row. */
export const withETag = (response: Response): Response => ({ ...response, headers: ETAG_HEADER });

export const NOT_MODIFIED_RESPONSE: Response = {
  description: 'The row still has the version that `If-None-Match` names.',
  headers: ETAG_HEADER,
};

/** Error response objects by HTTP status. Their examples come from the error constructors, so that both agree. */
const ERROR_RESPONSES: Readonly<Record<number, Response>> = {
  400: {
    description: 'Fields or parameters are wrong, or the body cannot be parsed.',
    content: jsonContent(
      { anyOf: [schemaReference('field_errors'), schemaReference('detail')] },
      validationError({ non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] }).body,
    ),
  },
  401: errorResponse('The name or the password is wrong.', new RestError(401, { detail: 'Username or password unknown' })),
  403: errorResponse('Nobody is signed in, the token is bad, or the caller may not do this.', notSignedIn()),
  404: errorResponse('There is no such row, none that the caller may see, or no such format.', notFound()),
  405: errorResponse('The address does not take this method; `Allow` names those that it takes.', methodNotAllowed('PUT')),
  406: { description: 'None of the representations is accepted.', content: jsonContent(schemaReference('detail'), notAcceptable().body) },
  409: errorResponse(
    'Other writes were in the way, or the `Idempotency-Key` is in use; the message says whether to send it again.',
    new RestError(409, { detail: 'A request with this Idempotency-Key is being carried out. Send it again in a moment.' }),
    { 'Retry-After': { description: 'Seconds until sending it again may help, if it may.', schema: { type: 'integer' } } },
  ),
  412: errorResponse('The row has another version than `If-Match` means.', preconditionFailed()),
  413: errorResponse('The body is too large.', bodyTooLarge()),
  415: errorResponse('The body is of a type that is not read.', unsupportedMediaType('text/plain')),
  429: errorResponse('Too many requests.', new RestError(429, { detail: 'Request was throttled. Expected available in 60 seconds.' }), {
    'Retry-After': { description: 'Seconds until the next request is answered.', schema: { type: 'integer' } },
  }),
  503: errorResponse('What is asked for takes too long to find.', new RestError(503, { detail: 'This takes too long.' })),
};

export const SHARED_RESPONSES: Readonly<Record<string, Response>> = {
  ...Object.fromEntries(Object.entries(ERROR_RESPONSES).map(([status, response]) => [`error_${status}`, response])),
  metadata: { description: 'What the address is and takes.', content: jsonContent(schemaReference('metadata')) },
};

/** References to the given error responses and to those that every path may return. */
export const errorResponses = (...statuses: number[]): Record<string, Response> =>
  Object.fromEntries(
    [...new Set([...statuses, 403, 404, 405, 406, 429, 503])]
      .sort((a, b) => a - b)
      .map((status) => [String(status), { $ref: `#/components/responses/error_${status}` }]),
  );

export const METADATA_RESPONSE: Response = { $ref: '#/components/responses/metadata' };
