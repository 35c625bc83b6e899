/** Operations of our own as compiled functions: REST's and those of pages, known at start. What clients send runs by graphql-js. */
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { GraphQLScalarType, Kind, parse, print, visit, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';
import type { Context } from '../context';

/** Runs with variables that are coerced already. */
export type Run = (context: Context, variables: Record<string, unknown>) => Promise<ExecutionResult> | ExecutionResult;

/** Variables are coerced by graphql-js, and the compiled operation takes them as they come: as those of a scalar that takes anything. */
const TAKEN = new GraphQLScalarType({ name: 'Taken' });

const taking = (schema: GraphQLSchema): GraphQLSchema =>
  Object.create(schema, { getType: { value: (name: string) => (name === TAKEN.name ? TAKEN : schema.getType(name)) } }) as GraphQLSchema;

/** The same document with untyped variables; its own, because the compiler writes into what it is given. */
function untyped(document: DocumentNode): DocumentNode {
  return visit(parse(print(document), { noLocation: true }), {
    VariableDefinition: ({ kind, variable }) => ({
      kind,
      variable,
      type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: TAKEN.name } },
    }),
  });
}

/** Throws what the compiler says of a document that it cannot compile. */
export function compiled(schema: GraphQLSchema, document: DocumentNode): Run {
  const made = compileQuery(taking(schema), untyped(document), undefined, { disablingCapturingStackErrors: true });
  if (!isCompiledQuery(made)) throw new AggregateError(made.errors ?? [], 'This operation cannot be compiled.');
  return (context, variables) => made.query(undefined, context, variables);
}
