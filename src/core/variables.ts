/** What is wrong with the variables of an operation, field by field. */
import {
  getNullableType,
  getOperationAST,
  GraphQLError,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  typeFromAST,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLSchema,
} from 'graphql';
import type { FieldErrors } from './errors';

type Variables = Record<string, unknown>;

/** Collects messages under paths such as `days[1].reps`. */
function check(type: GraphQLInputType, value: unknown, path: string, add: (path: string, message: string) => void): void {
  if (value === null || value === undefined) {
    if (isNonNullType(type)) add(path, value === null ? 'This field may not be null.' : 'This field is required.');
    return;
  }
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    if (Array.isArray(value)) value.forEach((item, index) => check(nullable.ofType, item, `${path}[${index}]`, add));
    else check(nullable.ofType, value, path, add);
  } else if (isInputObjectType(nullable)) {
    if (typeof value !== 'object') return add(path, `Expected an object, ${nullable.name}.`);
    const fields = nullable.getFields();
    const below = (name: string) => (path ? `${path}.${name}` : name);
    for (const name of Object.keys(value)) if (!fields[name]) add(below(name), `There is no such field in ${nullable.name}.`);
    for (const field of Object.values(fields)) {
      const given = (value as Variables)[field.name];
      if (given !== undefined || isRequiredInputField(field)) check(field.type, given, below(field.name), add);
    }
  } else {
    try {
      (nullable as GraphQLLeafType).parseValue(value);
    } catch (error) {
      add(path, (error as Error).message);
    }
  }
}

/** One error a variable; its `fields` name what is wrong inside of it, or the variable itself. */
export function variableErrors(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
  variables: Variables,
): GraphQLError[] {
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? [];
  return definitions.flatMap((definition) => {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    const value = variables[name];
    if (!isInputType(type) || (value === undefined && (definition.defaultValue || definition.type.kind !== Kind.NON_NULL_TYPE))) return [];
    const fields: FieldErrors = {};
    // The fields of an input object are named as a form would name them, without the variable.
    const root = isInputObjectType(getNullableType(type)) && value != null ? '' : name;
    check(type, value, root, (path, message) => (fields[path || name] = [...(fields[path || name] ?? []), message]));
    const messages = Object.entries(fields).map(([field, found]) => `${field}: ${found.join(' ')}`);
    if (!messages.length) return [];
    const extensions = { code: 'BAD_USER_INPUT', fields };
    return [new GraphQLError(`Variable "$${name}" got an invalid value. ${messages.join('; ')}`, { nodes: [definition], extensions })];
  });
}
