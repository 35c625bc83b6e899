/**
 * Compiles GraphQL operations to functions with graphql-jit. Only the server's own operations
 * (REST, HTML pages) are compiled; graphql-js interprets operations of clients.
 */
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import {
  GraphQLScalarType,
  Kind,
  parse,
  print,
  visit,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import type { Context } from '../context';

/** Runs a compiled operation. Its variables must already be coerced. */
export type CompiledOperation = (
  context: Context,
  variables: Record<string, unknown>,
) => Promise<ExecutionResult> | ExecutionResult;

/**
 * A scalar that accepts any value. It replaces the types of all variables, so that graphql-jit does
 * not coerce them again after graphql-js. The schema must contain it.
 */
export const COERCED_VALUE_SCALAR = new GraphQLScalarType({ name: 'CoercedValue' });

/**
 * Copies a document, because graphql-jit modifies its input, and gives every variable the scalar
 * type that accepts any value.
 */
function withUntypedVariables(document: DocumentNode): DocumentNode {
  return visit(parse(print(document), { noLocation: true }), {
    VariableDefinition: ({ kind, variable }) => ({
      kind,
      variable,
      type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: COERCED_VALUE_SCALAR.name } },
    }),
  });
}

/** Compiles a document. An AggregateError contains the errors of graphql-jit. */
export function compileOperation(schema: GraphQLSchema, document: DocumentNode): CompiledOperation {
  const compiledQuery = compileQuery(schema, withUntypedVariables(document), undefined, {
    disablingCapturingStackErrors: true,
  });

  if (!isCompiledQuery(compiledQuery)) {
    throw new AggregateError(compiledQuery.errors ?? [], 'This operation cannot be compiled.');
  }

  return (context, variables) => compiledQuery.query(undefined, context, variables);
}
