/**
 * Variable coercion (https://spec.graphql.org/October2021/#sec-Coercing-Variable-Values) by
 * graphql-js, with messages for each invalid field.
 */
import {
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
  type GraphQLInputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
} from 'graphql';
import { NOT_NULL_MESSAGE, REQUIRED_MESSAGE } from '../../shared/messages';
import {
  describeArgumentErrors,
  MAX_ERRORS_PER_RESPONSE,
  truncateInput,
  type ArgumentError,
  type InputPath,
} from '../declare/errors';

type Variables = Record<string, unknown>;

/**
 * Maximum nesting depth of variable values. More than any input type needs, and low enough that
 * recursion does not overflow the stack.
 */
const MAX_INPUT_DEPTH = 64;

const isObjectOrArray = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  (Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value)));

/** Checks the depth level by level, because recursion could overflow the stack. */
function isNestedTooDeep(value: unknown): boolean {
  let valuesAtDepth = [value].filter(isObjectOrArray);

  for (let depth = 0; valuesAtDepth.length; depth += 1) {
    if (depth > MAX_INPUT_DEPTH) return true;
    valuesAtDepth = valuesAtDepth.flatMap((container) =>
      Object.values(container).filter(isObjectOrArray),
    );
  }

  return false;
}

const TOO_DEEP_MESSAGE = `Ensure that this is nested no deeper than ${MAX_INPUT_DEPTH} levels.`;

function variableDepthError(
  definition: VariableDefinitionNode,
  variables: Variables,
): GraphQLError | undefined {
  const name = definition.variable.name.value;

  if (!isNestedTooDeep(variables[name])) return undefined;

  return invalidVariableError(definition, [{ path: [name], message: TOO_DEEP_MESSAGE }]);
}

const invalidVariableError = (
  definition: VariableDefinitionNode,
  inputErrors: readonly ArgumentError[],
): GraphQLError =>
  new GraphQLError(
    `Variable "$${definition.variable.name.value}" got an invalid value. ${describeArgumentErrors(inputErrors)}`,
    { nodes: [definition], extensions: { code: 'BAD_USER_INPUT', inputErrors } },
  );

export type VariableCoercionResult =
  { values: Variables; errors?: undefined } | { errors: readonly GraphQLError[] };

/**
 * Coerces variables and applies their defaults. `hideSuggestions` keeps names from the schema out
 * of the errors.
 */
export function coerceVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Variables,
  hideSuggestions: boolean,
): VariableCoercionResult {
  const { variableDefinitions = [] } = operation;
  const depthErrors = variableDefinitions.flatMap(
    (definition) => variableDepthError(definition, variables) ?? [],
  );

  if (depthErrors.length) return { errors: depthErrors };
  const coercionResult = getVariableValues(schema, variableDefinitions, variables, {
    maxErrors: 1,
    hideSuggestions,
  });

  if (!coercionResult.errors) return { values: coercionResult.coerced };
  const errors = variableErrors(schema, variableDefinitions, variables, hideSuggestions);

  return { errors: errors.length ? errors : coercionResult.errors };
}

/** Collects errors in the value of a variable, up to a maximum number. */
class ErrorCollector {
  readonly errors: ArgumentError[] = [];

  constructor(
    private readonly maxErrors: number,
    readonly hideSuggestions: boolean,
  ) {}

  isFull(): boolean {
    return this.errors.length >= this.maxErrors;
  }

  add(path: InputPath, message: string): void {
    if (this.isFull()) return;
    this.errors.push({ path: path.map(truncateInput), message: truncateInput(message) });
  }
}

/** Validates a value and collects errors with paths such as `['input', 'days', '1', 'reps']`. */
function checkValue(
  type: GraphQLInputType,
  value: unknown,
  path: InputPath,
  errors: ErrorCollector,
): void {
  if (errors.isFull()) return;

  if (value === null || value === undefined) {
    if (isNonNullType(type)) errors.add(path, value === null ? NOT_NULL_MESSAGE : REQUIRED_MESSAGE);

    return;
  }

  const nullableType = getNullableType(type);

  if (isListType(nullableType)) {
    if (!Array.isArray(value)) return checkValue(nullableType.ofType, value, path, errors);

    for (let index = 0; index < value.length && !errors.isFull(); index += 1) {
      checkValue(nullableType.ofType, value[index], [...path, String(index)], errors);
    }
  } else if (isInputObjectType(nullableType)) {
    if (typeof value !== 'object' || Array.isArray(value)) {
      return errors.add(path, `Expected an object, ${nullableType.name}.`);
    }

    const fields = nullableType.getFields();
    const fieldPathOf = (name: string) => [...path, name];
    const names = Object.keys(value);

    for (const name of names) {
      if (errors.isFull()) return;

      if (!Object.hasOwn(fields, name)) {
        errors.add(fieldPathOf(name), `There is no such field in ${nullableType.name}.`);
      }
    }

    if (nullableType.isOneOf && (names.length !== 1 || (value as Variables)[names[0]!] === null)) {
      errors.add(path, `Exactly one field of ${nullableType.name} must be given, and not null.`);
    }

    for (const field of Object.values(fields)) {
      const fieldValue = (value as Variables)[field.name];

      if (fieldValue !== undefined || isRequiredInputField(field)) {
        checkValue(field.type, fieldValue, fieldPathOf(field.name), errors);
      }
    }
  } else {
    try {
      if (isEnumType(nullableType)) nullableType.parseValue(value, errors.hideSuggestions);
      else (nullableType as GraphQLScalarType).parseValue(value);
    } catch (error) {
      errors.add(path, (error as Error).message);
    }
  }
}

/** Creates one error for each invalid variable. Its extension `inputErrors` lists the values. */
function variableErrors(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  variables: Variables,
  hideSuggestions: boolean,
): GraphQLError[] {
  let remainingErrorCount = MAX_ERRORS_PER_RESPONSE;

  return definitions.flatMap((definition) => {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const isOptional =
      definition.defaultValue !== undefined || definition.type.kind !== Kind.NON_NULL_TYPE;

    if (remainingErrorCount === 0 || !isInputType(type) || (value === undefined && isOptional)) {
      return [];
    }

    const collector = new ErrorCollector(remainingErrorCount, hideSuggestions);

    checkValue(type, value, [name], collector);
    const { errors } = collector;

    if (!errors.length) return [];
    remainingErrorCount -= errors.length;

    return [invalidVariableError(definition, errors)];
  });
}
