/** JSON schemas of request bodies, derived from the same field metadata as OPTIONS. */
import type { FieldMetadata } from '../../contract/metadata';
import { BODY_MEDIA_TYPES } from '../dialect/body';
import type { ResourceEndpoint } from '../endpoints';
import { requestFieldsMetadata } from '../dialect/metadata';
import { withDescription, requestValueSchema, type JsonSchema } from './schemas';

const MULTIPART_MEDIA_TYPE = 'multipart/form-data';

const writableFields = ({ fields }: ResourceEndpoint): FieldMetadata[] =>
  fields.filter(({ restReadOnly }) => !restReadOnly);

/** Returns the schema of a request body. `isPartialBody` is true for PATCH bodies, which have no required fields. */
export function bodySchema(endpoint: ResourceEndpoint, isPartialBody: boolean): JsonSchema {
  const metadata = requestFieldsMetadata(endpoint) as Record<
    string,
    { required: boolean; help_text?: string }
  >;
  const fields = writableFields(endpoint);
  const required = isPartialBody
    ? []
    : fields.map(({ restKey }) => restKey).filter((key) => metadata[key]!.required);
  const properties = fields.map((field) => {
    const ignoredNote = field.restIgnoredOnCreate ? ' Ignored when a row is created.' : '';
    return [
      field.restKey,
      withDescription(requestValueSchema(field), `${field.description}${ignoredNote}`),
    ];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length && { required }),
  };
}

/** Returns the OpenAPI request body for all supported media types. Resources with files accept multipart forms only. */
export function requestBody(schema: JsonSchema, endpoint?: ResourceEndpoint) {
  const mediaTypes =
    endpoint && writableFields(endpoint).some(({ kind }) => kind === 'image')
      ? [MULTIPART_MEDIA_TYPE]
      : BODY_MEDIA_TYPES;
  return {
    required: true,
    content: Object.fromEntries(mediaTypes.map((type) => [type, { schema }])),
  };
}
