/** A subscription, by whatever transport it comes: read, followed, and shown as every answer is. */
import {
  getOperationAST,
  GraphQLError,
  Kind,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Context } from '../../core/context';
import type { Executor, Variables } from '../../core/operation/execute';
import type { HttpExchange } from '../../exchange/exchange';
import { readDocument } from '../handler';
import { shownResult } from '../shownerrors';
import type { TrustedDocuments } from '../trusted';

export const PATH = '/graphql';

export type Params = Record<string, unknown>;

/** With a context as the transports think of one: a record of whatever there is. */
export type Asked = ExecutionArgs & { contextValue: Context & Record<PropertyKey, unknown> };

const refused = (message: string) => new GraphQLError(message, { extensions: { code: 'BAD_REQUEST' } });

const CONDITIONS = ['skip', 'include'];

/** Whether the root field may be left out (https://spec.graphql.org/September2025/#sec-Single-Root-Field forbids that). */
function isConditional({ definitions }: DocumentNode, { selectionSet }: OperationDefinitionNode): boolean {
  const visited = new Set<string>();
  const fragment = (name: string) => {
    if (visited.has(name)) return undefined;
    visited.add(name);
    return definitions.find((definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name);
  };
  const has = ({ selections }: SelectionSetNode): boolean =>
    selections.some((selection) => {
      if (selection.directives?.some(({ name }) => CONDITIONS.includes(name.value))) return true;
      if (selection.kind === Kind.INLINE_FRAGMENT) return has(selection.selectionSet);
      const found = selection.kind === Kind.FRAGMENT_SPREAD ? fragment(selection.name.value) : undefined;
      return found?.kind === Kind.FRAGMENT_DEFINITION && has(found.selectionSet);
    });
  return has(selectionSet);
}

/** Not a generator of its own: those end only once they have what they wait for. */
const mapped = (events: AsyncGenerator<ExecutionResult, void, void>, map: (result: ExecutionResult) => ExecutionResult) =>
  Object.create(events, {
    next: {
      value: async () => {
        const { done, value } = await events.next();
        return done ? { done, value } : { done: false, value: map(value) };
      },
    },
  }) as typeof events;

export class Subscriptions {
  constructor(
    private readonly executor: Executor,
    private readonly trusted: TrustedDocuments,
  ) {}

  read(params: Params, exchange: HttpExchange): Asked | GraphQLError[] {
    const { schema } = this.executor;
    const context: Context = exchange.context;
    let resolved: Params;
    try {
      resolved = this.trusted.resolve(params);
    } catch (error) {
      return [error as GraphQLError];
    }
    const { query, operationName, variables } = resolved;
    const name = typeof operationName === 'string' && operationName !== '' ? operationName : undefined;
    if (typeof query !== 'string') return [refused('The operation must have a `query`.')];
    const document = readDocument(schema, query, context.spending);
    if (!('kind' in document)) return [...shownResult({ errors: document }, context.viewer !== null).errors!];
    const operation = getOperationAST(document, name);
    exchange.operation = operation?.name?.value;
    if (operation?.operation !== 'subscription') return [refused(`Only subscriptions run here; queries and mutations go to POST ${PATH}.`)];
    if (isConditional(document, operation)) return [refused('The field of a subscription takes neither @skip nor @include.')];
    return {
      schema,
      document,
      operationName: name,
      variableValues: (variables ?? {}) as Variables,
      contextValue: context as Asked['contextValue'],
    };
  }

  readonly follow = async ({ document, operationName, contextValue, variableValues }: ExecutionArgs) => {
    const context = contextValue as Context;
    const found = await this.executor.subscribe(document, operationName ?? undefined, context, (variableValues ?? {}) as Variables);
    const shown = (result: ExecutionResult) => shownResult(result, context.viewer !== null);
    return 'next' in found ? mapped(found, shown) : shown(found);
  };
}
