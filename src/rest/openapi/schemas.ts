/**
 * JSON schemas of single values, and of request bodies, which are derived from the same field
 * metadata as OPTIONS.
 */
import { isEnumType, type GraphQLInputType, type GraphQLLeafType } from 'graphql';
import { getNullableType, isListType, isNonNullType } from 'graphql';
import { MAX_INTEGER, MIN_INTEGER } from '../../shared/bounds';
import type { FieldMetadata } from '../../shared/metadata';
import { BODY_MEDIA_TYPES } from '../drf/body';
import type { ResourceEndpoint } from '../endpoints';
import { requestFieldsMetadata } from '../drf/metadata';

export type JsonSchema = Readonly<Record<string, unknown>>;

export const ANY_SCHEMA: JsonSchema = {};

export const schemaReference = (name: string): JsonSchema => ({
  $ref: `#/components/schemas/${name}`,
});

/** Makes a JSON schema nullable. Enumerations must list null explicitly. */
export function nullableSchema(schema: JsonSchema): JsonSchema {
  if (schema === ANY_SCHEMA) return schema;
  if (schema.type === undefined) return { anyOf: [schema, { type: 'null' }] };
  const types = [schema.type].flat();

  if (types.includes('null')) return schema;

  return {
    ...schema,
    type: [...types, 'null'],
    ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }),
  };
}

/** Adds a description to a JSON schema. OpenAPI 3.1 allows one alongside a `$ref`. */
export const withDescription = (
  schema: JsonSchema,
  description: string | null | undefined,
): JsonSchema => (description ? { ...schema, description } : schema);

const DATE_SCHEMA: JsonSchema = { type: 'string', format: 'date' };
const DATE_TIME_SCHEMA: JsonSchema = { type: 'string', format: 'date-time' };

/** Time of day. The format is `time-local`, because the format `time` requires a UTC offset. */
const TIME_SCHEMA: JsonSchema = {
  type: 'string',
  format: 'time-local',
  pattern: '^\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,6})?$',
  examples: ['18:30:00'],
};
const TIME_INPUT_SCHEMA: JsonSchema = {
  ...TIME_SCHEMA,
  pattern: '^\\d{1,2}:\\d{1,2}(:\\d{1,2}(\\.\\d{1,6})?)?$',
};

function decimalSchema(decimalPlaces?: number): JsonSchema {
  let fractionPattern = '(\\.\\d+)?';

  if (decimalPlaces !== undefined) {
    fractionPattern = decimalPlaces > 0 ? `\\.\\d{${decimalPlaces}}` : '';
  }

  return {
    type: 'string',
    format: 'decimal',
    pattern: `^-?\\d+${fractionPattern}$`,
    examples: [(1).toFixed(decimalPlaces ?? 2)],
  };
}

/** JSON schemas of GraphQL scalars. Ids are numbers in REST. */
const SCALAR_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ID: { type: 'integer' },
  Int: { type: 'integer' },
  Float: { type: 'number' },
  String: { type: 'string' },
  Boolean: { type: 'boolean' },
  Date: DATE_SCHEMA,
  DateTime: DATE_TIME_SCHEMA,
  Time: TIME_SCHEMA,
  Decimal: decimalSchema(),
};

function leafSchema(type: GraphQLLeafType): JsonSchema {
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };

  return SCALAR_SCHEMAS[type.name] ?? ANY_SCHEMA;
}

const choiceSchema = ({ choices: allChoices = [], allowBlank }: FieldMetadata): JsonSchema => {
  const values = allChoices.map(({ value }) => value).filter((value) => value !== null);

  return { type: 'string', enum: [...new Set([...values, ...(allowBlank ? [''] : [])])] };
};

const urlSchema = ({ allowBlank }: FieldMetadata): JsonSchema => {
  if (allowBlank) return { type: 'string', anyOf: [{ format: 'uri' }, { maxLength: 0 }] };

  return { type: 'string', format: 'uri' };
};

/**
 * Schema of a single value in a response, before nullability and lists. Constraints such as
 * `maxLength` are omitted, because rows that are older than a constraint may violate it.
 */
export function responseValueSchema(
  metadata: FieldMetadata | undefined,
  type: GraphQLLeafType,
): JsonSchema {
  switch (metadata?.kind) {
    case 'decimal':
      return decimalSchema(metadata.decimalPlaces);
    case 'choice':
      return choiceSchema(metadata);
    case 'url':
      return urlSchema(metadata);
    case 'image':
      return { type: 'string', format: 'uri' };
    case 'uuid':
      return { type: 'string', format: 'uuid' };
    default:
      return leafSchema(type);
  }
}

/** Removes undefined values, because YAML would keep them. */
const omitUndefined = (schema: Record<string, unknown>): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));

function decimalInputPattern({ maxDigits, decimalPlaces = 0 }: FieldMetadata): string {
  const integerDigitsPattern =
    maxDigits === undefined ? '\\d+' : `\\d{1,${Math.max(1, maxDigits - decimalPlaces)}}`;
  const fractionPattern = decimalPlaces ? `(\\.\\d{1,${decimalPlaces}})?` : '';

  return `^[+-]?${integerDigitsPattern}${fractionPattern}$`;
}

const ID_SCHEMA: JsonSchema = { type: 'integer', minimum: 1, maximum: MAX_INTEGER };

function inputSchema(metadata: FieldMetadata): JsonSchema {
  const { min, max, minLength, maxLength, allowBlank, decimalPlaces, relation } = metadata;

  switch (metadata.kind) {
    case 'integer':
      return { type: 'integer', minimum: min ?? MIN_INTEGER, maximum: max ?? MAX_INTEGER };
    case 'decimal': {
      const examples = [Math.max(min ?? 1, 1).toFixed(decimalPlaces)];

      return omitUndefined({
        type: ['string', 'number'],
        format: 'decimal',
        pattern: decimalInputPattern(metadata),
        minimum: min,
        maximum: max,
        examples,
      });
    }
    case 'boolean':
      return { type: 'boolean' };
    case 'date':
      return DATE_SCHEMA;
    case 'time':
      return TIME_INPUT_SCHEMA;
    case 'datetime':
      return DATE_TIME_SCHEMA;
    case 'choice':
      return choiceSchema(metadata);
    case 'uuid':
      return { type: 'string', format: 'uuid' };
    case 'relation':
      return relation!.isToMany ? { type: 'array', items: ID_SCHEMA, minItems: 1 } : ID_SCHEMA;
    case 'image':
      return { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' };
    case 'url':
      return omitUndefined({ ...urlSchema(metadata), maxLength });
    default:
      return omitUndefined({
        type: 'string',
        minLength: allowBlank ? undefined : Math.max(1, minLength ?? 1),
        maxLength,
      });
  }
}

export const requestValueSchema = (metadata: FieldMetadata): JsonSchema =>
  metadata.allowNull ? nullableSchema(inputSchema(metadata)) : inputSchema(metadata);

export function argumentSchema(type: GraphQLInputType): JsonSchema {
  const nullableType = isNonNullType(type) ? getNullableType(type) : type;

  if (isListType(nullableType)) {
    return { type: 'array', items: argumentSchema(nullableType.ofType as GraphQLInputType) };
  }

  return (
    SCALAR_SCHEMAS[(nullableType as GraphQLLeafType).name] ??
    (isEnumType(nullableType) ? leafSchema(nullableType) : ANY_SCHEMA)
  );
}

const MULTIPART_MEDIA_TYPE = 'multipart/form-data';

const writableFields = ({ fields }: ResourceEndpoint): FieldMetadata[] =>
  fields.filter(({ restReadOnly }) => !restReadOnly);

/** Schema of a request body. The partial body of PATCH has no required fields. */
export function bodySchema(endpoint: ResourceEndpoint, isPartialBody: boolean): JsonSchema {
  const metadata = requestFieldsMetadata(endpoint) as Record<
    string,
    { required: boolean; help_text?: string }
  >;
  const fields = writableFields(endpoint);
  const required = fields
    .map(({ restKey }) => restKey)
    .filter((key) => !isPartialBody && metadata[key]!.required);
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

/**
 * OpenAPI request body for all supported media types. Resources with files accept multipart forms
 * only.
 */
export function requestBody(schema: JsonSchema, endpoint?: ResourceEndpoint) {
  const hasFiles = endpoint && writableFields(endpoint).some(({ kind }) => kind === 'image');
  const mediaTypes = hasFiles ? [MULTIPART_MEDIA_TYPE] : BODY_MEDIA_TYPES;

  return {
    required: true,
    content: Object.fromEntries(mediaTypes.map((type) => [type, { schema }])),
  };
}
