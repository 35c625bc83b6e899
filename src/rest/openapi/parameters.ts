/** OpenAPI parameter objects of paths, queries and headers. */
import type { GraphQLField } from 'graphql';
import {
  filterParameterName,
  type ComparisonOperator,
  type FieldMetadata,
  type FilterMetadata,
} from '../../shared/metadata';
import { KEY_RETENTION_HOURS, IDEMPOTENCY_KEY_PATTERN } from '../../shared/idempotency-key';
import type { ResourceEndpoint } from '../endpoints';
import { toSnakeCase } from '../../shared/casing';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MAX_OFFSET } from '../drf/pagination';
import { MAX_INDENT, MEDIA_TYPE_BY_FORMAT } from '../drf/negotiation';
import { toQueryParameterName } from '../drf/query-string';
import { argumentSchema, requestValueSchema, type JsonSchema } from './schemas';

type Parameter = Readonly<Record<string, unknown>>;

export const SHARED_PARAMETERS = {
  format: {
    name: 'format',
    in: 'query',
    description: 'Response format, for clients that cannot set the `Accept` header.',
    schema: { type: 'string', enum: Object.keys(MEDIA_TYPE_BY_FORMAT) },
  },
  indent: {
    name: 'indent',
    in: 'query',
    description: 'Number of spaces per indentation level; requires `format=json`.',
    schema: { type: 'integer', minimum: 0, maximum: MAX_INDENT },
  },
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'Id of the row.',
    schema: { type: 'integer' },
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: 'Maximum number of rows per page.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE },
  },
  offset: {
    name: 'offset',
    in: 'query',
    description: 'Number of rows to skip.',
    schema: { type: 'integer', minimum: 0, maximum: MAX_OFFSET, default: 0 },
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: `Makes the write repeatable: a repeated request with the same key within ${KEY_RETENTION_HOURS} hours returns the original response and writes nothing.`,
    schema: { type: 'string', pattern: IDEMPOTENCY_KEY_PATTERN.source },
  },
  ifMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'One or more expected `ETag` values of the row. If none of them matches, nothing is written and the response is 412.',
    schema: { type: 'string' },
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'The `ETag` of the row known to the client. If the row is unchanged, the response is 304 without a body.',
    schema: { type: 'string' },
  },
} satisfies Record<string, Parameter>;
export const parameterReference = (name: keyof typeof SHARED_PARAMETERS): Parameter => ({
  $ref: `#/components/parameters/${name}`,
});

export const REPRESENTATION_PARAMETERS: readonly Parameter[] = [
  parameterReference('format'),
  parameterReference('indent'),
];

const COMMA_SEPARATED_STYLE = { style: 'form', explode: false };

function orderingParameter({ fields, resource }: ResourceEndpoint): Parameter {
  const columns = fields.filter(({ isSortable }) => isSortable).map(({ restKey }) => restKey);
  const defaultOrder = resource.ordering.map((term) => {
    const name = term.replace(/^-/, '');
    const key = fields.find((field) => field.name === name)?.restKey ?? toSnakeCase(name);

    return term.startsWith('-') ? `-${key}` : key;
  });

  return {
    name: 'ordering',
    in: 'query',
    description: 'Fields to sort by; the prefix `-` reverses the order. Ties are sorted by id.',
    ...COMMA_SEPARATED_STYLE,
    schema: {
      type: 'array',
      items: { type: 'string', enum: columns.flatMap((column) => [column, `-${column}`]) },
      ...(defaultOrder.length && { default: defaultOrder }),
    },
  };
}

const INTEGER_SCHEMA: JsonSchema = { type: 'integer' };

/**
 * JSON schema of a field's value in a filter parameter. Limits of stored values do not apply to it.
 */
function filterValueSchema(field: FieldMetadata): JsonSchema {
  switch (field.kind) {
    case 'boolean':
      return { type: 'string', enum: ['True', 'False'] };
    case 'integer':
    case 'decimal':
      return { type: 'number' };
    case 'relation':
      return INTEGER_SCHEMA;
    case 'string':
    case 'url':
    case 'image':
    case 'computed':
      return { type: 'string' };
    default:
      return requestValueSchema({ ...field, allowNull: false, allowBlank: false });
  }
}

const COMPARISON_LABELS: Record<ComparisonOperator, string> = {
  gt: 'Greater than',
  gte: 'At least',
  lt: 'Less than',
  lte: 'At most',
};

function filterParameter(filter: FilterMetadata, fields: readonly FieldMetadata[]): Parameter {
  const { field: name, syntax, operator } = filter;
  const field = fields.find((candidate) => candidate.name === name)!;
  const isList = syntax === 'ids' || syntax === 'commaIds';
  let { description } = field;

  if (operator) description = `${COMPARISON_LABELS[operator]} this value. ${description}`;
  else if (isList) description = `${description} Rows with any of the values match.`;
  const valueSchema = syntax ? INTEGER_SCHEMA : filterValueSchema(field);

  return {
    name: filterParameterName(filter, field),
    in: 'query',
    description,
    ...(syntax === 'ids' && { style: 'form', explode: true }),
    ...(syntax === 'commaIds' && COMMA_SEPARATED_STYLE),
    schema: isList ? { type: 'array', items: INTEGER_SCHEMA } : valueSchema,
  };
}

export const listRouteParameters = (endpoint: ResourceEndpoint): Parameter[] => [
  parameterReference('limit'),
  parameterReference('offset'),
  orderingParameter(endpoint),
  ...endpoint.view.filters.map((filter) => filterParameter(filter, endpoint.fields)),
  ...REPRESENTATION_PARAMETERS,
];

export const argumentParameters = ({ args }: GraphQLField<unknown, unknown>): Parameter[] => [
  ...args.map(({ name, type, description, defaultValue }) => ({
    name: toQueryParameterName(name),
    in: 'query',
    ...(description && { description }),
    schema: { ...argumentSchema(type), ...(defaultValue != null && { default: defaultValue }) },
  })),
  ...REPRESENTATION_PARAMETERS,
];
