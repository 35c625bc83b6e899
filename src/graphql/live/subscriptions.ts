/**
 * GraphQL subscriptions, independent of the transport: validates and runs an operation, and limits
 * the errors of each event.
 */
import {
  getOperationAST,
  GraphQLError,
  Kind,
  type DocumentNode,
  type ExecutionArgs,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
} from 'graphql';
import { CHOOSE_OPERATION_MESSAGE, DRY_RUN_MESSAGE } from '../../shared/messages';
import { visitFields } from '../../engine/declare/selections';
import type { Context } from '../../engine/context';
import type { Executor, Variables } from '../../engine/execution/executor';
import type { RequestContext } from '../../request/request-context';
import { isDryRun } from '../dry-run';
import { parseClientDocument } from '../document-limits';
import { limitResultErrors } from '../error-limits';
import type { TrustedDocuments } from '../trusted-documents';

export const GRAPHQL_PATH = '/graphql';

export type SubscriptionParams = Record<string, unknown>;

/**
 * Arguments for the execution of a subscription. The transport libraries require a context type
 * that is also a record.
 */
export type SubscriptionArgs = ExecutionArgs & {
  contextValue: Context & Record<PropertyKey, unknown>;
};

const badRequestError = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'BAD_REQUEST' } });

const CONDITIONAL_DIRECTIVES = ['skip', 'include'];

/**
 * Whether a root field of the subscription, or a fragment with it, has @skip or @include, which
 * https://spec.graphql.org/September2025/#sec-Single-Root-Field forbids.
 */
function hasConditionalSelection(
  { definitions }: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
): boolean {
  let hasConditionalDirective = false;

  visitFields([selectionSet], undefined, {
    findFragment: (name) =>
      definitions.find(
        (definition): definition is FragmentDefinitionNode =>
          definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name,
      ),
    narrowToTypeCondition: () => undefined,
    isSkipped({ directives = [] }) {
      hasConditionalDirective ||= directives.some(({ name }) =>
        CONDITIONAL_DIRECTIVES.includes(name.value),
      );

      return hasConditionalDirective;
    },
    visitField: () => undefined,
  });

  return hasConditionalDirective;
}

export class Subscriptions {
  constructor(
    private readonly executor: Executor,
    private readonly trustedDocuments: TrustedDocuments,
  ) {}

  /**
   * Parses and validates a subscription. Returns the arguments for its execution, or errors.
   * `dryRunHeader` is the header `X-Dry-Run` of the request.
   */
  async parse(
    params: SubscriptionParams,
    requestContext: RequestContext,
    dryRunHeader?: unknown,
  ): Promise<SubscriptionArgs | GraphQLError[]> {
    const { schema } = this.executor;
    const context: Context = requestContext;
    let resolvedParams: SubscriptionParams;

    try {
      resolvedParams = this.trustedDocuments.resolveOperationId(params);
    } catch (error) {
      return [error as GraphQLError];
    }

    if (isDryRun(resolvedParams.extensions, dryRunHeader)) {
      return [badRequestError(DRY_RUN_MESSAGE)];
    }

    const { query, operationName, variables } = resolvedParams;
    const name =
      typeof operationName === 'string' && operationName !== '' ? operationName : undefined;

    if (typeof query !== 'string') return [badRequestError('The operation must have a `query`.')];
    const document = await parseClientDocument(schema, query, requestContext);

    if (!('kind' in document)) {
      return [
        ...limitResultErrors({ errors: document }, this.executor.permitsIntrospection(context))
          .errors!,
      ];
    }

    const operation = getOperationAST(document, name);

    if (!operation) {
      const extensions = { code: 'OPERATION_RESOLUTION_FAILURE' };

      return [new GraphQLError(CHOOSE_OPERATION_MESSAGE, { extensions })];
    }

    requestContext.operationName = operation.name?.value;

    if (operation.operation !== 'subscription') {
      return [
        badRequestError(
          `Only subscriptions run here; queries and mutations go to POST ${GRAPHQL_PATH}.`,
        ),
      ];
    }

    if (hasConditionalSelection(document, operation)) {
      return [badRequestError('The field of a subscription takes neither @skip nor @include.')];
    }

    return {
      schema,
      document,
      operationName: name,
      variableValues: (variables ?? {}) as Variables,
      contextValue: context as SubscriptionArgs['contextValue'],
    };
  }

  /** Runs a subscription that `parse` has validated. */
  readonly subscribe = ({
    document,
    operationName,
    contextValue,
    variableValues,
  }: ExecutionArgs) => {
    const context = contextValue as Context;

    return this.executor.subscribe(
      document,
      operationName ?? undefined,
      context,
      (variableValues ?? {}) as Variables,
      (result) => limitResultErrors(result, this.executor.permitsIntrospection(context)),
    );
  };
}
