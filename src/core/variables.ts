/** What is wrong with the variables of an operation, field by field. */
import {
  BREAK,
  getNamedType,
  getNullableType,
  getOperationAST,
  getVariableValues,
  GraphQLError,
  GraphQLScalarType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  typeFromAST,
  visit,
  type ASTNode,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLSchema,
  type NamedTypeNode,
  type VariableDefinitionNode,
} from 'graphql';
import type { FieldErrors } from './errors';

type Variables = Record<string, unknown>;

/** Deeper than any input can mean anything, and shallower than anything that reads it recursively can go. */
const MAX_DEPTH = 64;

/**
 * Compiled operations would read a variable by code that is written out for every level of its type, and input objects may contain each
 * other without end. So variables of input objects are coerced beforehand, and the compiled operation takes them as they come: it is made
 * for a document, and by a schema, in which their type is a scalar that takes anything.
 */
const TAKEN = new GraphQLScalarType({ name: 'Taken' });

const isObject = (schema: GraphQLSchema, { type }: VariableDefinitionNode) =>
  isInputObjectType(getNamedType(typeFromAST(schema, type as NamedTypeNode)));

export const taking = (schema: GraphQLSchema): GraphQLSchema =>
  Object.create(schema, { getType: { value: (name: string) => (name === TAKEN.name ? TAKEN : schema.getType(name)) } }) as GraphQLSchema;

export function plain(document: DocumentNode, schema: GraphQLSchema): DocumentNode {
  const type: NamedTypeNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: TAKEN.name } };
  const definitions = document.definitions.map((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return definition;
    const variableDefinitions = definition.variableDefinitions?.map((variable) =>
      isObject(schema, variable) ? { ...variable, type, defaultValue: undefined } : variable,
    );
    return { ...definition, variableDefinitions };
  });
  return { ...document, definitions };
}

/** Of the variables of an operation, those of input objects. */
export const objectVariables = (schema: GraphQLSchema, document: DocumentNode, operationName?: string): VariableDefinitionNode[] =>
  (getOperationAST(document, operationName)?.variableDefinitions ?? []).filter((definition) => isObject(schema, definition));

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && (Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value)));

/** Walks without recursion, because what is too deep for that is what it looks for. */
function isDeep(value: unknown): boolean {
  let level = [value].filter(isPlain);
  for (let depth = 0; level.length; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((one) => Object.values(one).filter(isPlain));
  }
  return false;
}

const TOO_DEEP = `Ensure that this is nested no deeper than ${MAX_DEPTH} levels.`;

/** As `isDeep`, of a value that is written into the operation. */
export function deepValue(document: DocumentNode): GraphQLError | undefined {
  let depth = 0;
  let found: GraphQLError | undefined;
  const nested = {
    enter(node: ASTNode) {
      depth += 1;
      if (depth <= MAX_DEPTH) return undefined;
      found = new GraphQLError(`A value is nested too deep. ${TOO_DEEP}`, { nodes: [node], extensions: { code: 'BAD_USER_INPUT' } });
      return BREAK;
    },
    leave() {
      depth -= 1;
    },
  };
  visit(document, { ObjectValue: nested, ListValue: nested });
  return found;
}

function depthError(definition: VariableDefinitionNode, variables: Variables): GraphQLError | undefined {
  const name = definition.variable.name.value;
  if (!isDeep(variables[name])) return undefined;
  const extensions = { code: 'BAD_USER_INPUT', fields: { [name]: [TOO_DEEP] } };
  return new GraphQLError(`Variable "$${name}" got an invalid value. ${TOO_DEEP}`, { nodes: [definition], extensions });
}

/** The variables, those of input objects coerced; or what is wrong with the latter. */
export function coerced(
  schema: GraphQLSchema,
  objects: readonly VariableDefinitionNode[],
  variables: Variables,
): { values: Variables; errors?: undefined } | { errors: readonly GraphQLError[] } {
  if (!objects.length) return { values: variables };
  const deep = objects.flatMap((definition) => depthError(definition, variables) ?? []);
  if (deep.length) return { errors: deep };
  const read = getVariableValues(schema, objects, variables);
  return read.errors ? { errors: read.errors } : { values: { ...variables, ...read.coerced } };
}

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
    const deep = depthError(definition, variables);
    if (deep) return [deep];
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    const value = variables[name];
    if (!isInputType(type) || (value === undefined && (definition.defaultValue || definition.type.kind !== Kind.NON_NULL_TYPE))) return [];
    // Keys are the sender's: not even `constructor` may be there already.
    const fields: FieldErrors = Object.create(null) as FieldErrors;
    // The fields of an input object are named as a form would name them, without the variable.
    const root = isInputObjectType(getNullableType(type)) && value != null ? '' : name;
    check(type, value, root, (path, message) => (fields[path || name] = [...(fields[path || name] ?? []), message]));
    const messages = Object.entries(fields).map(([field, found]) => `${field}: ${found.join(' ')}`);
    if (!messages.length) return [];
    const extensions = { code: 'BAD_USER_INPUT', fields };
    return [new GraphQLError(`Variable "$${name}" got an invalid value. ${messages.join('; ')}`, { nodes: [definition], extensions })];
  });
}
