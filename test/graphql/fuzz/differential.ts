/** The same request by graphql-js, which is the meaning, and by an executor of ours: what differs. */
import { execute, GraphQLError, parse, validate, type DocumentNode, type ExecutionResult } from 'graphql';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Transaction } from 'sequelize';
import type { Context } from '../../../src/core/context';
import { ClientError } from '../../../src/core/model/errors';
import type { Executor } from '../../../src/core/operation/executor';
import { DerivedValueCache } from '../../../src/core/cache/derivedvalues';
import type { Row } from '../../../src/database/rows';
import { Session } from '../../../src/database/session';
import { createContext } from '../../../src/request/requestcontext';
import type { Fitgraph } from '../../setup/fitgraph';
import type { Request } from './documents';

/** All that it does happens in one transaction, which is taken back. */
class TakenBack extends Session {
  private former: Promise<unknown> = Promise.resolve();

  constructor(
    fitgraph: Fitgraph,
    private readonly outer: Transaction,
  ) {
    super(fitgraph.database);
  }

  /** One after the other: the connection of a transaction takes one statement at a time. */
  override query(text: string, values: unknown[] = []): Promise<Row[]> {
    const { connection } = this.outer as unknown as { connection: { query(query: object): Promise<{ rows: Row[] }> } };
    const { types } = this.database.pool.options;
    const asked = this.former.then(() => connection.query({ text, values, types }));
    this.former = asked.catch(() => undefined);
    return asked.then(({ rows }) => rows);
  }

  override read(text: string, values?: unknown[]): Promise<Row[]> {
    return this.query(text, values);
  }

  override transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.database.sequelize.transaction({ transaction: this.outer }, work);
  }
}

export class Contexts {
  constructor(private readonly fitgraph: Fitgraph) {}

  /** A request's context, of the owner of a token. */
  async of(token: string | undefined, transaction?: Transaction): Promise<Context> {
    const services = { ...this.fitgraph.services, derivedValues: new DerivedValueCache() };
    const request = new IncomingMessage(new Socket());
    Object.assign(request, { method: 'POST', url: '/graphql', headers: token ? { authorization: `Token ${token}` } : {} });
    const { authentication, resolverContext } = createContext(services, request, 'graphql');
    await authentication.authenticate();
    // Without a budget, because graphql-js knows none.
    return { ...resolverContext, budget: undefined, ...(transaction && { session: new TakenBack(this.fitgraph, transaction) }) };
  }
}

type Run = (context: Context) => Promise<ExecutionResult> | ExecutionResult;

/** Runs one after the other, each on the same rows and with the same ids to come. */
async function apart(fitgraph: Fitgraph, contexts: Contexts, token: string | undefined, runs: readonly Run[]): Promise<ExecutionResult[]> {
  const { sequelize } = fitgraph.database;
  const outer = await sequelize.transaction();
  try {
    const [sequences] = await sequelize.query(
      `SELECT format('%I.%I', schemaname, sequencename) AS name, last_value AS value FROM pg_sequences WHERE schemaname = current_schema()`,
      { transaction: outer },
    );
    const names = (sequences as { name: string; value: string | null }[]).map(({ name, value }) => [name, value ?? '1', value !== null]);
    const results: ExecutionResult[] = [];
    for (const run of runs) {
      const point = await sequelize.transaction({ transaction: outer });
      try {
        await sequelize.query(`SELECT setval(x->>0, (x->>1)::bigint, (x->>2)::boolean) FROM jsonb_array_elements($1::jsonb) AS x`, {
          bind: [JSON.stringify(names)],
          transaction: point,
        });
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

/** Versions of rows that were written are by chance. */
const withoutChance = (text: string) => text.replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, '');

/** As clients are to see it. */
function shownMessage({ message, originalError }: GraphQLError): string {
  const known = originalError === undefined || originalError instanceof ClientError;
  return known || (originalError instanceof GraphQLError && originalError.nodes) ? message : `unexpected: ${message}`;
}

interface Told {
  path: string;
  said: string;
}

/** Where the data are null because of an error: at its path, or further up where the path leads through fields that may not be null. */
function placeOf(data: unknown, path: readonly (string | number)[]): string {
  let value = data;
  let depth = 0;
  while (value != null && depth < path.length) value = (value as Record<string | number, unknown>)[path[depth++]!];
  return plain(path.slice(0, depth));
}

/** Errors by the places that they leave empty. */
function told({ data, errors }: ExecutionResult, message: (error: GraphQLError) => string): Map<string, Told[]> {
  const places = new Map<string, Told[]>();
  for (const error of errors ?? []) {
    const place = placeOf(data, error.path ?? []);
    const one = { path: plain(error.path), said: plain({ path: error.path, locations: error.locations, message: message(error) }) };
    places.set(place, [...(places.get(place) ?? []), one]);
  }
  return places;
}

/**
 * Of several errors that leave the same place empty from further down, it is up to chance which one comes first, and the specification asks for
 * one only. So errors of a place may differ if both come from further down; those of the same path may not.
 */
function differentErrors(meant: ExecutionResult, found: ExecutionResult): string | undefined {
  const one = told(meant, shownMessage);
  const two = told(found, ({ message }) => message);
  for (const place of new Set([...one.keys(), ...two.keys()])) {
    const [here, there] = [one.get(place) ?? [], two.get(place) ?? []];
    const show = () => `${place}: ${plain(here)} ${plain(there)}`;
    if (!here.length || !there.length) return `an error on one side only, at ${show()}`;
    for (const { path, said } of here) {
      const same = there.filter((other) => other.path === path);
      if (path === place && !same.length) return `another error at ${show()}`;
      if (same.some((other) => other.said !== said)) return `other words at ${show()}`;
    }
    if (new Set(there.map(({ said }) => said)).size !== there.length) return `an error twice at ${show()}`;
  }
  return undefined;
}

/** Undefined if the two are one. */
function difference(meant: ExecutionResult, found: ExecutionResult): string | undefined {
  const unexpected = found.errors?.find(({ extensions }) => extensions.code === 'INTERNAL_SERVER_ERROR');
  if (unexpected) return `an unexpected error: ${plain(meant.errors?.map(shownMessage))}`;
  if (!('data' in meant)) {
    // Nothing ran. Variables are told in words of our own, one error each, at the same places.
    const places = ({ errors }: ExecutionResult) => [...new Set(errors?.map(({ locations }) => plain(locations)))].sort().join();
    if ('data' in found || !found.errors?.length) return `should have been refused: ${plain(meant.errors?.map(shownMessage))}`;
    return places(meant) === places(found) ? undefined : `refused at other places: ${places(meant)} ${places(found)}`;
  }
  if (withoutChance(plain(meant.data)) !== withoutChance(plain(found.data)))
    return `other data:\n${plain(meant.data)}\n${plain(found.data)}`;
  return differentErrors(meant, found);
}

export interface Outcome {
  /** Not valid, so that nothing was compared. */
  invalid?: boolean;
  refused?: boolean;
  difference?: string;
}

export async function compared(
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
  const meaning: Run = (contextValue) => execute({ schema, document, operationName, variableValues, contextValue });
  const ours: Run = (context) => executor.execute(document, operationName, context, variableValues);
  const runs = [meaning, ours];
  const results =
    request.kind === 'mutation'
      ? await apart(fitgraph, contexts, token, runs)
      : await Promise.all(runs.map(async (run) => run(await contexts.of(token))));
  const [meant, found] = results as [ExecutionResult, ExecutionResult];
  return { refused: !('data' in meant), difference: difference(meant, found) };
}
