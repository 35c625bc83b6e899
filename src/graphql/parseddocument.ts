/** Parsing and validation of the documents that clients send. */
import {
  GraphQLError,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import type { RateBudget } from '../core/context';
import { ClientError, MAX_ERRORS_PER_RESPONSE } from '../core/model/errors';
import type { RequestContext } from '../request/requestcontext';
import { documentLimitsRule, MAX_TOKENS } from './documentlimits';

/** Validation stops one error below the maximum, because graphql-js then appends an error that says that validation was aborted. */
export const VALIDATION_OPTIONS = { maxErrors: MAX_ERRORS_PER_RESPONSE - 1 };

/** Parses and validates the text of a client's operation. Returns the document or the errors. Charges the time to `budget`. */
export function parseAndValidateDocument(
  schema: GraphQLSchema,
  text: string,
  budget?: RateBudget,
): DocumentNode | readonly GraphQLError[] {
  const startedAt = performance.now();
  try {
    budget?.requireRemainingBudget();
    const document = parse(text, { maxTokens: MAX_TOKENS });
    const errors = validate(
      schema,
      document,
      [...specifiedRules, documentLimitsRule],
      VALIDATION_OPTIONS,
    );
    return errors.length ? errors : document;
  } catch (error) {
    if (error instanceof ClientError) return [error];
    const { message, source, positions } = error as GraphQLError;
    return [
      new GraphQLError(message, {
        source,
        positions,
        extensions: { code: 'GRAPHQL_PARSE_FAILED' },
      }),
    ];
  } finally {
    budget?.chargeMilliseconds(performance.now() - startedAt);
  }
}

/** Parses and validates the text of a client's operation in a fair turn of the client. */
export async function parseClientDocument(
  schema: GraphQLSchema,
  text: string,
  { awaitTurn, resolverContext }: RequestContext,
): Promise<DocumentNode | readonly GraphQLError[]> {
  await awaitTurn();
  return parseAndValidateDocument(schema, text, resolverContext.budget);
}
