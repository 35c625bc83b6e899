/**
 * `/graphql/export.csv` and `.jsonl`: the rows of one list as a file, written while they are read. Of a list however long one page is in memory, and
 * the next one is read once the client has taken this one. Until the first page is there errors are answered as GraphQL's are; from then on a
 * connection that ends too early tells that the file is not whole.
 */
import type { Request, RequestHandler, Response } from 'express';
import { GraphQLError } from 'graphql';
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Context } from '../../core/context';
import { overloaded } from '../../core/model/errors';
import type { Executor } from '../../core/operation/execute';
import type { HttpExchange } from '../../exchange/exchange';
import { EXPORT_PATH } from '../../pages/exportpath';
import type { Caller } from '../../database/options';
import type { Config } from '../../platform/config';
import { Limiter } from '../../platform/limiter';
import { refusal } from '../handler';
import type { TrustedDocuments } from '../trusted';
import { FORMATS, type Format } from './formats';
import { Pages } from './pages';
import { askedBy } from './parameters';
import { answerRefusal, Refused, refused } from './refusal';

interface Dependencies {
  executor: Executor;
  trusted: TrustedDocuments;
  config: Pick<Config, 'exportTimeout' | 'maxExports'>;
  exchangeOf(request: IncomingMessage): HttpExchange;
  log: Logger;
}

const METHODS = ['GET', 'HEAD', 'POST'];
const RETRY_SECONDS = 10;
/** Of all files that are written at a time, one caller may have this part. */
const SHARE = 4;

/** Takes a slot, because each file that is written holds memory. Throws a Refused. */
function enter(limiter: Limiter<Caller>, caller: Caller): void {
  if (limiter.tryEnter(caller)) return;
  const own = limiter.runningOf(caller);
  if (own < limiter.limits.slotsPerClient) throw new Refused([overloaded()]);
  const extensions = { code: 'TOO_MANY_REQUESTS', retryAfter: RETRY_SECONDS };
  throw new Refused([new GraphQLError(`You are being sent ${own} files already. Try again when one of them is there.`, { extensions })]);
}

/** Waits until the client has taken what was written, or has gone. */
function written(response: Response, text: string): Promise<void> | undefined {
  if (text === '' || response.write(text) || response.destroyed) return undefined;
  return new Promise((resolve) => {
    const over = () => {
      response.off('drain', over).off('close', over);
      resolve();
    };
    response.on('drain', over).on('close', over);
  });
}

async function identified(exchange: HttpExchange): Promise<void> {
  try {
    await exchange.identified();
  } catch (error) {
    const told = refusal(error);
    if (!(told instanceof GraphQLError)) throw error;
    const { http: _status, ...extensions } = told.extensions;
    throw new Refused([new GraphQLError(told.message, { extensions })]);
  }
}

class Sending {
  constructor(
    private readonly dependencies: Dependencies,
    private readonly request: Request,
    private readonly response: Response,
    private readonly exchange: HttpExchange,
  ) {}

  async run(limiter: Limiter<Caller>, extension: string, format: Format): Promise<void> {
    const { request, response, exchange } = this;
    let caller: Caller | undefined;
    const late = this.limit();
    try {
      if (!METHODS.includes(request.method)) {
        response.set('Allow', METHODS.join(', '));
        throw refused(`A file is asked for by ${METHODS.join(', ')}.`, undefined, 'METHOD_NOT_ALLOWED');
      }
      await identified(exchange);
      const { session }: Context = exchange.context;
      enter(limiter, session.caller);
      caller = session.caller;
      await this.send(extension, format);
    } catch (error) {
      this.fail(error);
    } finally {
      clearTimeout(late);
      if (caller !== undefined) limiter.leave(caller);
    }
  }

  private limit(): NodeJS.Timeout {
    const { config, log } = this.dependencies;
    const end = () => {
      log.warn({ id: this.exchange.id, ms: config.exportTimeout }, 'a file took too long');
      this.response.destroy();
    };
    return setTimeout(end, config.exportTimeout || 2 ** 31 - 1).unref();
  }

  private async send(extension: string, format: Format): Promise<void> {
    const { request, response, exchange } = this;
    const { executor, trusted } = this.dependencies;
    const { list, variables, withBom, name } = askedBy(request, exchange, executor.schema, trusted);
    const writer = format.writer(list, withBom);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const rows = new Pages(list, executor, exchange.context, variables, gone.signal).rows();
    const first = await rows.next();
    response.status(200).set({
      ...exchange.headers(),
      'Content-Type': format.mediaType,
      'Content-Disposition': `attachment; filename="${name}.${extension}"`,
    });
    if (request.method === 'HEAD') return void response.end();
    await written(response, writer.header);
    for (let page = first; !page.done && !response.destroyed; page = await rows.next()) await written(response, writer.linesOf(page.value));
    response.end();
  }

  /** What is wrong with a file that has begun is told by its end. */
  private fail(error: unknown): void {
    const { response, exchange } = this;
    if (!response.headersSent) {
      if (!(error instanceof Refused)) throw error;
      const { viewer }: Context = exchange.context;
      return answerRefusal(response, error, viewer !== null);
    }
    // Who has gone does not mind.
    if (!response.destroyed) this.dependencies.log.error({ id: exchange.id, err: error }, 'a file could not be finished');
    response.destroy();
  }
}

export function exportRoutes(dependencies: Dependencies): RequestHandler {
  const { maxExports } = dependencies.config;
  const limiter = new Limiter<Caller>({ slots: maxExports, slotsPerClient: Math.ceil(maxExports / SHARE) });
  return async (request, response, next) => {
    const extension = request.path.startsWith(`${EXPORT_PATH}.`) ? request.path.slice(EXPORT_PATH.length + 1) : '';
    const format = FORMATS.get(extension);
    if (!format) return next();
    await new Sending(dependencies, request, response, dependencies.exchangeOf(request)).run(limiter, extension, format);
  };
}
