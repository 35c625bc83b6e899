/**
 * Variables that graphql-js would answer as they are: integers, texts, nothing. Most are, and need no walk of the schema in each request, which
 * takes 5 to 8 % of the CPU of a short one.
 */
import { Kind, type OperationDefinitionNode, type TypeNode } from 'graphql';
import { MAX_INTEGER } from '../../contract/bounds';

type Variables = Record<string, unknown>;

const LEAVES = new Map<string, (value: unknown) => boolean>([
  ['Int', (value) => Number.isInteger(value) && Math.abs(value as number) <= MAX_INTEGER],
  ['String', (value) => typeof value === 'string'],
  ['ID', (value) => typeof value === 'string'],
  ['Boolean', (value) => typeof value === 'boolean'],
]);

const leafOf = (type: TypeNode) => (type.kind === Kind.NAMED_TYPE ? LEAVES.get(type.name.value) : undefined);

const definitionsOf = ({ variableDefinitions = [] }: OperationDefinitionNode) =>
  variableDefinitions.map(({ variable, type, defaultValue }) => {
    const isRequired = type.kind === Kind.NON_NULL_TYPE;
    const isLeaf = leafOf(isRequired ? type.type : type);
    return { name: variable.name.value, isRequired, mayBeAbsent: !isRequired && defaultValue === undefined, isLeaf };
  });

const known = new WeakMap<OperationDefinitionNode, ReturnType<typeof definitionsOf>>();

/** The variables of the operation, or undefined where one of them is not plain. */
export function plainVariables(operation: OperationDefinitionNode, variables: Variables): Variables | undefined {
  let definitions = known.get(operation);
  if (!definitions) known.set(operation, (definitions = definitionsOf(operation)));
  const values: Variables = {};
  for (const { name, isRequired, mayBeAbsent, isLeaf } of definitions) {
    const isGiven = Object.hasOwn(variables, name);
    if (!isGiven && mayBeAbsent) continue;
    const value = isGiven ? variables[name] : undefined;
    if (value === null ? isRequired : !isLeaf?.(value)) return undefined;
    values[name] = value;
  }
  return values;
}
