/**
 * Executes a request with graphql-js, as the reference, and with our executor, and compares the
 * results.
 */
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
import type { Context } from '../../../../src/engine/context';
import {
  ClientError,
  MAX_ERRORS_PER_RESPONSE,
  TOO_MANY_ERRORS_OPTIONS,
} from '../../../../src/engine/declare/errors';
import type { Executor } from '../../../../src/engine/execution/executor';
import { DerivedValueCache } from '../../../../src/engine/changes/derived-values';
import type { Row } from '../../../../src/database/rows';
import { DatabaseSession } from '../../../../src/database/session';
import type { Transaction } from '../../../../src/database/transaction';
import { RequestContext } from '../../../../src/request/request-context';
import type { Fitgraph } from '../../../setup/fitgraph';
import type { Request } from './documents';

/** A session whose statements run in one transaction, which is rolled back. */
class RolledBackSession extends DatabaseSession {
  constructor(
    fitgraph: Fitgraph,
    private readonly outer: Transaction,
  ) {
    super(fitgraph.database);
  }

  override query(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.outer.query(text, values);
  }

  override transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.outer.savepoint(() => work(this.outer));
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
    const context = new RequestContext(services, request, 'graphql');

    await context.authentication.authenticate();
    // Only our executor charges budgets; graphql-js does not.
    return Object.assign(context, {
      budget: undefined,
      ...(transaction && { session: new RolledBackSession(this.fitgraph, transaction) }),
    });
  }
}

class RolledBack extends Error {}

function ignoreRollback(error: unknown): void {
  if (!(error instanceof RolledBack)) throw error;
}

const rolledBack = (transaction: Transaction, work: () => Promise<void>): Promise<void> =>
  transaction
    .savepoint(async () => {
      await work();
      throw new RolledBack();
    })
    .catch(ignoreRollback);

type Run = (context: Context) => Promise<ExecutionResult> | ExecutionResult;

/** Executes the runs one after the other, each on the same rows and with the same next ids. */
async function executeInTurn(
  fitgraph: Fitgraph,
  contexts: Contexts,
  token: string | undefined,
  runs: readonly Run[],
): Promise<ExecutionResult[]> {
  const results: ExecutionResult[] = [];

  const runInTransaction = async (outer: Transaction): Promise<void> => {
    const sequences = await outer.query(
      `SELECT format('%I.%I', schemaname, sequencename) AS name, last_value AS value FROM pg_sequences WHERE schemaname = current_schema()`,
    );
    const names = sequences.map(({ name, value }) => [name, value ?? '1', value !== null]);

    for (const run of runs) {
      await rolledBack(outer, async () => {
        await outer.query(
          `SELECT setval(x->>0, (x->>1)::bigint, (x->>2)::boolean) FROM jsonb_array_elements($1::jsonb) AS x`,
          [JSON.stringify(names)],
        );
        results.push(await run(await contexts.of(token, outer)));
      });
    }

    throw new RolledBack();
  };

  await fitgraph.database.createSession().transaction(runInTransaction).catch(ignoreRollback);
  return results;
}

const plain = (value: unknown) => JSON.stringify(value ?? null);

/** Removes row versions, which are random. */
const withoutRowVersions = (text: string) =>
  text.replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\d+\(\d+,\d+\)/g, '');

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

/**
 * Returns the place that an error sets to null: the path of the error, or that of an ancestor if
 * non-null fields propagate the null.
 */
function nulledPlace(data: unknown, path: readonly (string | number)[]): string {
  let value = data;
  let depth = 0;

  while (value != null && depth < path.length) {
    value = (value as Record<string | number, unknown>)[path[depth++]!];
  }

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
 * Describes the first difference between the errors; undefined if there is none. If several errors
 * below a place set it to null, the specification requires only one, which depends on chance.
 * Errors of a place may therefore differ if both have a longer path; errors of the same path may
 * not. Our executor limits the number of errors, so that some places have none.
 */
function differentErrors(reference: ExecutionResult, found: ExecutionResult): string | undefined {
  const isLimited =
    found.errors?.at(-1)?.extensions.code === TOO_MANY_ERRORS_OPTIONS.extensions.code;

  if (isLimited && found.errors!.length !== MAX_ERRORS_PER_RESPONSE) {
    return `limited to ${found.errors!.length} errors`;
  }

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

      if (same.some((other) => other.description !== description)) {
        return `other words at ${show()}`;
      }
    }

    if (new Set(there.map(({ description }) => description)).size !== there.length) {
      return `an error twice at ${show()}`;
    }
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
    // The request failed before execution. Our executor has different messages for variables, one
    // for each, at the same locations.
    const places = ({ errors }: ExecutionResult) =>
      [...new Set(errors?.map(({ locations }) => plain(locations)))].sort().join();

    if ('data' in found || !found.errors?.length) {
      return `should have been refused: ${plain(reference.errors?.map(shownMessage))}`;
    }

    return places(reference) === places(found)
      ? undefined
      : `refused at other places: ${places(reference)} ${places(found)}`;
  }

  if (withoutRowVersions(plain(reference.data)) !== withoutRowVersions(plain(found.data))) {
    return `other data:\n${plain(reference.data)}\n${plain(found.data)}\n${plain(found.errors)}`;
  }

  return differentErrors(reference, found);
}

export interface Outcome {
  /** Whether the document is invalid, so that nothing was compared. */
  invalid?: boolean;
  isRejected?: boolean;

  /** The response would exceed a limit of our executor, which graphql-js does not have. */
  isTooLarge?: boolean;
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

  if (found.errors?.some(({ extensions }) => extensions.code === 'RESULT_TOO_LARGE')) {
    return { isTooLarge: true };
  }

  return { isRejected: !('data' in reference), difference: difference(reference, found) };
}
