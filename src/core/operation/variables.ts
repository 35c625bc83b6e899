/** The variables of an operation as graphql-js coerces them, and what is wrong with them, field by field. */
import {
  BREAK,
  getNullableType,
  getVariableValues,
  GraphQLError,
  isEnumType,
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
  type GraphQLScalarType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
} from 'graphql';
import { NOT_NULL, REQUIRED } from '../../contract/messages';
import { MAX_ERRORS, shortened, type FieldErrors } from '../model/errors';
import { plainVariables } from './plainvariables';

type Variables = Record<string, unknown>;

/** Deeper than any input can mean anything, and shallower than anything that reads it recursively can go. */
const MAX_DEPTH = 64;

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

const deepValues = new WeakMap<DocumentNode, GraphQLError | null>();

/** As `isDeep`, of a value that is written into the document. */
export function deepValue(document: DocumentNode): GraphQLError | undefined {
  let found = deepValues.get(document);
  if (found === undefined) deepValues.set(document, (found = findDeepValue(document) ?? null));
  return found ?? undefined;
}

function findDeepValue(document: DocumentNode): GraphQLError | undefined {
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

export type Coerced = { values: Variables; errors?: undefined } | { errors: readonly GraphQLError[] };

/** The variables that the operation has, with defaults and without what is absent; or what is wrong with them, without names that nobody has guessed. */
export function coerced(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Variables,
  hideSuggestions: boolean,
): Coerced {
  const plain = plainVariables(operation, variables);
  if (plain) return { values: plain };
  const { variableDefinitions = [] } = operation;
  const deep = variableDefinitions.flatMap((definition) => depthError(definition, variables) ?? []);
  if (deep.length) return { errors: deep };
  const read = getVariableValues(schema, variableDefinitions, variables, { maxErrors: 1, hideSuggestions });
  if (!read.errors) return { values: read.coerced };
  const errors = variableErrors(schema, variableDefinitions, variables, hideSuggestions);
  return { errors: errors.length ? errors : read.errors };
}

/** Gathers messages until there are enough of them. */
class Findings {
  /** Keys are the sender's: not even `constructor` may be there already. */
  readonly fields: FieldErrors = Object.create(null) as FieldErrors;
  private count = 0;

  constructor(
    private readonly most: number,
    readonly hideSuggestions: boolean,
  ) {}

  isFull(): boolean {
    return this.count >= this.most;
  }

  add(path: string, message: string): void {
    if (this.isFull()) return;
    this.count += 1;
    const name = shortened(path);
    this.fields[name] = [...(this.fields[name] ?? []), shortened(message)];
  }
}

/** Collects messages under paths such as `days[1].reps`. */
function check(type: GraphQLInputType, value: unknown, path: string, found: Findings): void {
  if (found.isFull()) return;
  if (value === null || value === undefined) {
    if (isNonNullType(type)) found.add(path, value === null ? NOT_NULL : REQUIRED);
    return;
  }
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    if (!Array.isArray(value)) return check(nullable.ofType, value, path, found);
    for (let index = 0; index < value.length && !found.isFull(); index += 1)
      check(nullable.ofType, value[index], `${path}[${index}]`, found);
  } else if (isInputObjectType(nullable)) {
    if (typeof value !== 'object' || Array.isArray(value)) return found.add(path, `Expected an object, ${nullable.name}.`);
    const fields = nullable.getFields();
    const below = (name: string) => (path ? `${path}.${name}` : name);
    const names = Object.keys(value);
    for (const name of names) {
      if (found.isFull()) return;
      if (!Object.hasOwn(fields, name)) found.add(below(name), `There is no such field in ${nullable.name}.`);
    }
    if (nullable.isOneOf && (names.length !== 1 || (value as Variables)[names[0]!] === null))
      found.add(path, `Exactly one field of ${nullable.name} must be given, and not null.`);
    for (const field of Object.values(fields)) {
      const given = (value as Variables)[field.name];
      if (given !== undefined || isRequiredInputField(field)) check(field.type, given, below(field.name), found);
    }
  } else {
    try {
      if (isEnumType(nullable)) nullable.parseValue(value, found.hideSuggestions);
      else (nullable as GraphQLScalarType).parseValue(value);
    } catch (error) {
      found.add(path, (error as Error).message);
    }
  }
}

/** One error a variable; its `fields` name what is wrong inside of it, or the variable itself. */
function variableErrors(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  variables: Variables,
  hideSuggestions: boolean,
): GraphQLError[] {
  let left = MAX_ERRORS;
  return definitions.flatMap((definition) => {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const optional = definition.defaultValue !== undefined || definition.type.kind !== Kind.NON_NULL_TYPE;
    if (left === 0 || !isInputType(type) || (value === undefined && optional)) return [];
    // The fields of an input object are named as a form would name them, without the variable.
    const root = isInputObjectType(getNullableType(type)) && value != null ? '' : name;
    const found = new Findings(left, hideSuggestions);
    check(type, value, root, found);
    const fields = Object.fromEntries(Object.entries(found.fields).map(([path, messages]) => [path || name, messages]));
    const messages = Object.entries(fields).map(([field, said]) => `${field}: ${said.join(' ')}`);
    if (!messages.length) return [];
    left -= messages.length;
    const extensions = { code: 'BAD_USER_INPUT', fields };
    return [new GraphQLError(`Variable "$${name}" got an invalid value. ${messages.join('; ')}`, { nodes: [definition], extensions })];
  });
}
