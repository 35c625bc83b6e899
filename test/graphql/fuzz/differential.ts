/** Executes a request with graphql-js, as the reference, and with our executor, and compares the results. */
import {
  execute,
  GraphQLError,
  parse,
  validate,
  type DocumentNode,
  type ExecutionResult,
} from 'graphql';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Transaction } from 'sequelize';
import type { Context } from '../../../src/core/context';
import {
  ClientError,
  MAX_ERRORS_PER_RESPONSE,
  TOO_MANY_ERRORS_OPTIONS,
} from '../../../src/core/model/errors';
import type { Executor } from '../../../src/core/operation/executor';
import { DerivedValueCache } from '../../../src/core/cache/derivedvalues';
import type { Row } from '../../../src/database/rows';
import { DatabaseSession } from '../../../src/database/session';
import { createRequestContext } from '../../../src/request/requestcontext';
import type { Fitgraph } from '../../setup/fitgraph';
import type { Request } from './documents';

/** A session whose statements run in one transaction, which is rolled back. */
class RolledBackSession extends DatabaseSession {
  private previousStatement: Promise<unknown> = Promise.resolve();

  constructor(
    fitgraph: Fitgraph,
    private readonly outer: Transaction,
  ) {
    super(fitgraph.database);
  }

  /** Runs statements one after the other, because the connection of a transaction accepts only one at a time. */
  override query(text: string, values: unknown[] = []): Promise<Row[]> {
    const { connection } = this.outer as unknown as {
      connection: { query(query: object): Promise<{ rows: Row[] }> };
    };
    const { types } = this.database.pool.options;
    const result = this.previousStatement.then(() => connection.query({ text, values, types }));
    this.previousStatement = result.catch(() => undefined);
    return result.then(({ rows }) => rows);
  }

  override transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.database.sequelize.transaction({ transaction: this.outer }, work);
  }
}

export class Contexts {
  constructor(private readonly fitgraph: Fitgraph) {}

  /** Creates the context of a request with this token. */
  async of(token: string | undefined, transaction?: Transaction): Promise<Context> {
    const services = {
      ...this.fitgraph.services,
      derivedValues: new DerivedValueCache({ maxOwners: 100 }),
    };
    const request = new IncomingMessage(new Socket());
    Object.assign(request, {
      method: 'POST',
      url: '/graphql',
      headers: token ? { authorization: `Token ${token}` } : {},
    });
    const { authentication, resolverContext } = createRequestContext(services, request, 'graphql');
    await authentication.authenticate();
    // Only our executor charges budgets; graphql-js does not.
    return Object.assign(resolverContext, {
      budget: undefined,
      ...(transaction && { session: new RolledBackSession(this.fitgraph, transaction) }),
    });
  }
}

type Run = (context: Context) => Promise<ExecutionResult> | ExecutionResult;

/** Executes the runs one after the other, each on the same rows and with the same next ids. */
async function executeInTurn(
  fitgraph: Fitgraph,
  contexts: Contexts,
  token: string | undefined,
  runs: readonly Run[],
): Promise<ExecutionResult[]> {
  const { sequelize } = fitgraph.database;
  const outer = await sequelize.transaction();
  try {
    const [sequences] = await sequelize.query(
      `SELECT format('%I.%I', schemaname, sequencename) AS name, last_value AS value FROM pg_sequences WHERE schemaname = current_schema()`,
      { transaction: outer },
    );
    const names = (sequences as { name: string; value: string | null }[]).map(({ name, value }) => [
      name,
      value ?? '1',
      value !== null,
    ]);
    const results: ExecutionResult[] = [];
    for (const run of runs) {
      const point = await sequelize.transaction({ transaction: outer });
      try {
        await sequelize.query(
          `SELECT setval(x->>0, (x->>1)::bigint, (x->>2)::boolean) FROM jsonb_array_elements($1::jsonb) AS x`,
          {
            bind: [JSON.stringify(names)],
            transaction: point,
          },
        );
        results.push(await run(await contexts.of(token, outer)));
      } finally {
        await point.rollback();
      }
    }
    return results;
  } finally {
    await outer.rollback();
  }
}

const plain = (value: unknown) => JSON.stringify(value ?? null);

/** Removes row versions, which are random. */
const withoutRowVersions = (text: string) =>
  text.replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, '');

/** Returns the message that clients should see. */
function shownMessage({ message, originalError }: GraphQLError): string {
  const known = originalError === undefined || originalError instanceof ClientError;
  return known || (originalError instanceof GraphQLError && originalError.nodes)
    ? message
    : `unexpected: ${message}`;
}

interface ReportedError {
  path: string;
  description: string;
}

/** Returns the place that an error sets to null: the path of the error, or that of an ancestor if non-null fields propagate the null. */
function nulledPlace(data: unknown, path: readonly (string | number)[]): string {
  let value = data;
  let depth = 0;
  while (value != null && depth < path.length)
    value = (value as Record<string | number, unknown>)[path[depth++]!];
  return plain(path.slice(0, depth));
}

/** Groups errors by the place that they set to null. */
function errorsByPlace(
  { data, errors }: ExecutionResult,
  message: (error: GraphQLError) => string,
): Map<string, ReportedError[]> {
  const places = new Map<string, ReportedError[]>();
  for (const error of errors ?? []) {
    const place = nulledPlace(data, error.path ?? []);
    const one = {
      path: plain(error.path),
      description: plain({ path: error.path, locations: error.locations, message: message(error) }),
    };
    places.set(place, [...(places.get(place) ?? []), one]);
  }
  return places;
}

/**
 * Describes the first difference between the errors; undefined if there is none. If several errors below a place set it to null, the specification
 * requires only one, which depends on chance. Errors of a place may therefore differ if both have a longer path; errors of the same path may not. Our
 * executor limits the number of errors, so that some places have none.
 */
function differentErrors(reference: ExecutionResult, found: ExecutionResult): string | undefined {
  const isLimited =
    found.errors?.at(-1)?.extensions.code === TOO_MANY_ERRORS_OPTIONS.extensions.code;
  if (isLimited && found.errors!.length !== MAX_ERRORS_PER_RESPONSE)
    return `limited to ${found.errors!.length} errors`;
  const one = errorsByPlace(reference, shownMessage);
  const two = errorsByPlace(
    { ...found, errors: isLimited ? found.errors!.slice(0, -1) : found.errors },
    ({ message }) => message,
  );
  for (const place of new Set([...one.keys(), ...two.keys()])) {
    const [here, there] = [one.get(place) ?? [], two.get(place) ?? []];
    const show = () => `${place}: ${plain(here)} ${plain(there)}`;
    if (isLimited && !there.length) continue;
    if (!here.length || !there.length) return `an error on one side only, at ${show()}`;
    for (const { path, description } of here) {
      const same = there.filter((other) => other.path === path);
      if (path === place && !same.length) return `another error at ${show()}`;
      if (same.some((other) => other.description !== description))
        return `other words at ${show()}`;
    }
    if (new Set(there.map(({ description }) => description)).size !== there.length)
      return `an error twice at ${show()}`;
  }
  return undefined;
}

/** Describes the first difference; undefined if the results are equal. */
function difference(reference: ExecutionResult, found: ExecutionResult): string | undefined {
  const unexpected = found.errors?.find(
    ({ extensions }) => extensions.code === 'INTERNAL_SERVER_ERROR',
  );
  if (unexpected) return `an unexpected error: ${plain(reference.errors?.map(shownMessage))}`;
  if (!('data' in reference)) {
    // The request failed before execution. Our executor has different messages for variables, one for each, at the same locations.
    const places = ({ errors }: ExecutionResult) =>
      [...new Set(errors?.map(({ locations }) => plain(locations)))].sort().join();
    if ('data' in found || !found.errors?.length)
      return `should have been refused: ${plain(reference.errors?.map(shownMessage))}`;
    return places(reference) === places(found)
      ? undefined
      : `refused at other places: ${places(reference)} ${places(found)}`;
  }
  if (withoutRowVersions(plain(reference.data)) !== withoutRowVersions(plain(found.data)))
    return `other data:\n${plain(reference.data)}\n${plain(found.data)}`;
  return differentErrors(reference, found);
}

export interface Outcome {
  /** Whether the document is invalid, so that nothing was compared. */
  invalid?: boolean;
  isRejected?: boolean;
  difference?: string;
}

export async function compareWithReference(
  request: Request,
  executor: Executor,
  fitgraph: Fitgraph,
  contexts: Contexts,
  token: string | undefined,
): Promise<Outcome> {
  const { schema } = executor;
  const document: DocumentNode = parse(request.text);
  if (validate(schema, document).length) return { invalid: true };
  const { operationName, variables: variableValues } = request;
  const referenceRun: Run = (contextValue) =>
    execute({ schema, document, operationName, variableValues, contextValue });
  const ownRun: Run = (context) =>
    executor.execute(document, operationName, context, variableValues);
  const runs = [referenceRun, ownRun];
  const results =
    request.kind === 'mutation'
      ? await executeInTurn(fitgraph, contexts, token, runs)
      : await Promise.all(runs.map(async (run) => run(await contexts.of(token))));
  const [reference, found] = results as [ExecutionResult, ExecutionResult];
  return { isRejected: !('data' in reference), difference: difference(reference, found) };
}
