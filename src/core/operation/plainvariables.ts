/** Variables that graphql-js would answer as they are: an integer, a text, nothing. Most are, and need no walk of the schema in each request. */
import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  isInputType,
  isNonNullType,
  Kind,
  typeFromAST,
  type GraphQLInputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { MAX_INTEGER } from '../../contract/bounds';

type Variables = Record<string, unknown>;

type IsPlain = (value: unknown) => boolean;

const LEAVES = new Map<GraphQLInputType, IsPlain>([
  [GraphQLInt, (value) => Number.isInteger(value) && Math.abs(value as number) <= MAX_INTEGER],
  [GraphQLFloat, (value) => Number.isFinite(value)],
  [GraphQLString, (value) => typeof value === 'string'],
  [GraphQLID, (value) => typeof value === 'string'],
  [GraphQLBoolean, (value) => typeof value === 'boolean'],
]);

function plainOf(type: GraphQLInputType): IsPlain {
  if (isNonNullType(type)) {
    const inner = plainOf(type.ofType);
    return (value) => value !== null && inner(value);
  }
  const leaf = LEAVES.get(type);
  return (value) => value === null || leaf?.(value) === true;
}

type Reader = (variables: Variables) => Variables | undefined;

function readerOf(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode): Reader {
  const known = variableDefinitions.map(({ variable, type, defaultValue }) => {
    const input = typeFromAST(schema, type);
    const mayBeAbsent = type.kind !== Kind.NON_NULL_TYPE && defaultValue === undefined;
    return { name: variable.name.value, mayBeAbsent, isPlain: isInputType(input) ? plainOf(input) : () => false };
  });
  return (variables) => {
    const values: Variables = {};
    for (const { name, mayBeAbsent, isPlain } of known) {
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (value !== undefined && isPlain(value)) values[name] = value;
      else if (!mayBeAbsent || Object.hasOwn(variables, name)) return undefined;
    }
    return values;
  };
}

const readers = new WeakMap<OperationDefinitionNode, { schema: GraphQLSchema; reader: Reader }>();

/** The variables of the operation, if all that it is given are plain; what is neither sure nor quick to say is not. */
export function plainVariables(schema: GraphQLSchema, operation: OperationDefinitionNode, variables: Variables): Variables | undefined {
  let known = readers.get(operation);
  if (known?.schema !== schema) readers.set(operation, (known = { schema, reader: readerOf(schema, operation) }));
  return known.reader(variables);
}
