/** Values as JSON schemas: what REST shows of a field, and what it takes. */
import { isEnumType, type GraphQLInputType, type GraphQLLeafType } from 'graphql';
import { getNullableType, isListType, isNonNullType } from 'graphql';
import { MAX_INTEGER, MIN_INTEGER } from '../../contract/bounds';
import type { FieldFact } from '../../contract/facts';

export type Schema = Readonly<Record<string, unknown>>;

export const ANY: Schema = {};

export const component = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** Null too. An enumeration must name it, and what has no one type becomes an alternative. */
export function orNull(schema: Schema): Schema {
  if (schema === ANY) return schema;
  if (schema.type === undefined) return { anyOf: [schema, { type: 'null' }] };
  const types = [schema.type].flat();
  if (types.includes('null')) return schema;
  return { ...schema, type: [...types, 'null'], ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }) };
}

/** The description stands beside the schema, which may be a reference. */
export const described = (schema: Schema, description: string | null | undefined): Schema =>
  description ? { ...schema, description } : schema;

const DATE: Schema = { type: 'string', format: 'date' };
const DATE_TIME: Schema = { type: 'string', format: 'date-time' };
/** The format `time` of JSON Schema demands an offset, which a time of day does not have. */
const TIME: Schema = { type: 'string', format: 'time-local', pattern: '^\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,6})?$', examples: ['18:30:00'] };
const TIME_TAKEN: Schema = { ...TIME, pattern: '^\\d{1,2}:\\d{1,2}(:\\d{1,2}(\\.\\d{1,6})?)?$' };

const decimal = (places?: number): Schema => ({
  type: 'string',
  format: 'decimal',
  pattern: `^-?\\d+${places === undefined ? '(\\.\\d+)?' : places > 0 ? `\\.\\d{${places}}` : ''}$`,
  examples: [(1).toFixed(places ?? 2)],
});

/** By the name of the scalar; ids are numbers in REST. A scalar that is not here may be anything. */
const SCALARS: Readonly<Record<string, Schema>> = {
  ID: { type: 'integer' },
  Int: { type: 'integer' },
  Float: { type: 'number' },
  String: { type: 'string' },
  Boolean: { type: 'boolean' },
  Date: DATE,
  DateTime: DATE_TIME,
  Time: TIME,
  Decimal: decimal(),
};

export function leaf(type: GraphQLLeafType): Schema {
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  return SCALARS[type.name] ?? ANY;
}

const choices = ({ choices: all = [], blank }: FieldFact): Schema => {
  const values = all.map(({ value }) => value).filter((value) => value !== null);
  return { type: 'string', enum: [...new Set([...values, ...(blank ? [''] : [])])] };
};

const url = ({ blank }: FieldFact): Schema =>
  blank ? { type: 'string', anyOf: [{ format: 'uri' }, { maxLength: 0 }] } : { type: 'string', format: 'uri' };

/** What is shown of a field with facts; null and lists are up to the type of the field. Limits are not told: older rows may break them. */
export function shownValue(fact: FieldFact | undefined, type: GraphQLLeafType): Schema {
  switch (fact?.kind) {
    case 'decimal':
      return decimal(fact.places);
    case 'choice':
      return choices(fact);
    case 'url':
      return url(fact);
    case 'image':
      return { type: 'string', format: 'uri' };
    case 'uuid':
      return { type: 'string', format: 'uuid' };
    default:
      return leaf(type);
  }
}

/** Undefined values would be lost in JSON but not in YAML. */
const only = (schema: Record<string, unknown>): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));

function digitsPattern({ digits, places = 0 }: FieldFact): string {
  const whole = digits === undefined ? '\\d+' : `\\d{1,${Math.max(1, digits - places)}}`;
  return `^[+-]?${whole}${places ? `(\\.\\d{1,${places}})?` : ''}$`;
}

const ID: Schema = { type: 'integer', minimum: 1, maximum: MAX_INTEGER };

function taken(fact: FieldFact): Schema {
  const { min, max, minLength, maxLength, blank, places, relation } = fact;
  switch (fact.kind) {
    case 'integer':
      return { type: 'integer', minimum: min ?? MIN_INTEGER, maximum: max ?? MAX_INTEGER };
    case 'decimal': {
      const examples = [Math.max(min ?? 1, 1).toFixed(places)];
      return only({ type: ['string', 'number'], format: 'decimal', pattern: digitsPattern(fact), minimum: min, maximum: max, examples });
    }
    case 'boolean':
      return { type: 'boolean' };
    case 'date':
      return DATE;
    case 'time':
      return TIME_TAKEN;
    case 'datetime':
      return DATE_TIME;
    case 'choice':
      return choices(fact);
    case 'uuid':
      return { type: 'string', format: 'uuid' };
    case 'relation':
      return relation!.many ? { type: 'array', items: ID, minItems: 1 } : ID;
    case 'image':
      return { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' };
    case 'url':
      return only({ ...url(fact), maxLength });
    default:
      return only({ type: 'string', minLength: blank ? undefined : Math.max(1, minLength ?? 1), maxLength });
  }
}

/** What a body may hold for a field. */
export const takenValue = (fact: FieldFact): Schema => (fact.null ? orNull(taken(fact)) : taken(fact));

/** A query parameter that becomes an argument of a field: text, which the type of the argument narrows. */
export function argument(type: GraphQLInputType): Schema {
  const bare = isNonNullType(type) ? getNullableType(type) : type;
  if (isListType(bare)) return { type: 'array', items: argument(bare.ofType as GraphQLInputType) };
  return SCALARS[(bare as GraphQLLeafType).name] ?? (isEnumType(bare) ? leaf(bare) : ANY);
}
