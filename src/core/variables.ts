/** What is wrong with the variables of an operation, field by field. */
import {
  coerceInputValue,
  getOperationAST,
  GraphQLError,
  isInputType,
  Kind,
  typeFromAST,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import type { FieldErrors } from './errors';

type Variables = Record<string, unknown>;

const dotted = (path: readonly (string | number)[]) =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .slice(1);

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
    if (!isInputType(type)) return [];
    const fields: FieldErrors = {};
    const value = variables[name];
    if (value === undefined) {
      if (definition.defaultValue || definition.type.kind !== Kind.NON_NULL_TYPE) return [];
      fields[name] = ['This field is required.'];
    } else {
      coerceInputValue(value, type, (path, _value, error) => {
        const field = dotted(path) || name;
        fields[field] = [...(fields[field] ?? []), error.message];
      });
    }
    const messages = Object.entries(fields).map(([field, found]) => `${field}: ${found.join(' ')}`);
    if (!messages.length) return [];
    return [
      new GraphQLError(`Variable "$${name}" got an invalid value. ${messages.join('; ')}`, {
        nodes: [definition],
        extensions: { code: 'BAD_USER_INPUT', fields },
      }),
    ];
  });
}
