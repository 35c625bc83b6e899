/**
 * Streaming export: `/graphql/export.csv` and `.jsonl` send the rows of one list as a file. Only one page is in memory; the next one is read when the
 * client has received it (backpressure). Errors before the first page are GraphQL errors; later ones abort the connection, which marks the file as
 * incomplete.
 */
import { once } from 'node:events';
import type { Request, RequestHandler, Response } from 'express';
import { GraphQLError } from 'graphql';
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Context } from '../../core/context';
import { ClientError, overloadedError } from '../../core/model/errors';
import type { Executor } from '../../core/operation/executor';
import type { RequestContext } from '../../request/requestcontext';
import { EXPORT_PATH } from '../../pages/exportpath';
import { releaseLargeBodySlot } from '../../platform/bodylimit';
import type { Config } from '../../platform/config';
import { ClientLimiters, type LimiterClientKey } from '../../platform/limiter';
import { withHttpStatus } from '../httperrors';
import type { TrustedDocuments } from '../trusteddocuments';
import { EXPORT_FORMATS, type ExportFormat } from './formats';
import { PageReader } from './pages';
import { parseExportRequest } from './request';
import { sendExportError, ExportError, createExportError } from './errors';

interface ExportDependencies {
  executor: Executor;
  trustedDocuments: TrustedDocuments;
  config: Pick<Config, 'exportTimeout' | 'maxExports'>;
  contextOf(request: IncomingMessage): RequestContext;
  log: Logger;
}

const ALLOWED_METHODS = ['GET', 'HEAD', 'POST'];
const EXPORT_RETRY_AFTER_SECONDS = 10;
/** Divisor of the total number of export slots that yields the maximum number of concurrent exports per client, rounded up. */
const TOTAL_TO_CLIENT_SLOTS_RATIO = 4;

/** Takes a slot of the concurrency limiter, because each running export occupies memory. Throws if no slot is free. */
function acquireExportSlot(limiters: ClientLimiters, clientKey: LimiterClientKey): void {
  const limiter = limiters.of(clientKey);
  if (limiter.tryAcquire(clientKey)) return;
  const runningExportCount = limiter.busySlotsOf(clientKey);
  if (runningExportCount < limiter.limits.slotsPerClient) throw overloadedError();
  const message = `You already have ${runningExportCount} running exports. Try again when one of them has finished.`;
  throw new ClientError('TOO_MANY_REQUESTS', message, { retryAfter: EXPORT_RETRY_AFTER_SECONDS });
}

/** Writes text to the response, and waits until its buffer has room for more or the client has disconnected. */
async function writeText(
  response: Response,
  text: string,
  disconnectSignal: AbortSignal,
): Promise<void> {
  if (text === '' || response.write(text) || response.destroyed) return;
  await once(response, 'drain', { signal: disconnectSignal }).catch(() => undefined);
}

async function authenticateClient(requestContext: RequestContext): Promise<void> {
  try {
    await requestContext.authentication.authenticateOnce();
  } catch (error) {
    const clientError = withHttpStatus(error);
    if (!(clientError instanceof GraphQLError)) throw error;
    const { http: _http, ...extensions } = clientError.extensions;
    throw new GraphQLError(clientError.message, { extensions });
  }
}

class ExportResponse {
  constructor(
    private readonly dependencies: ExportDependencies,
    private readonly request: Request,
    private readonly response: Response,
    private readonly requestContext: RequestContext,
  ) {}

  async run(limiters: ClientLimiters, fileExtension: string, format: ExportFormat): Promise<void> {
    const { request, response, requestContext } = this;
    let clientKey: LimiterClientKey | undefined;
    const timeout = this.startExportTimer();
    try {
      if (!ALLOWED_METHODS.includes(request.method)) {
        response.set('Allow', ALLOWED_METHODS.join(', '));
        throw createExportError(
          `Exports allow only ${ALLOWED_METHODS.join(', ')}.`,
          undefined,
          'METHOD_NOT_ALLOWED',
        );
      }
      await authenticateClient(requestContext);
      const { session }: Context = requestContext.resolverContext;
      acquireExportSlot(limiters, session.clientKey);
      clientKey = session.clientKey;
      await this.sendExportFile(fileExtension, format);
    } catch (error) {
      this.handleError(error);
    } finally {
      clearTimeout(timeout);
      if (clientKey !== undefined) limiters.of(clientKey).release(clientKey);
    }
  }

  private startExportTimer(): NodeJS.Timeout {
    const { config, log } = this.dependencies;
    const abortExport = () => {
      log.warn(
        { id: this.requestContext.requestInfo.id, ms: config.exportTimeout },
        'an export took too long',
      );
      this.response.destroy();
    };
    return setTimeout(abortExport, config.exportTimeout || 2 ** 31 - 1).unref();
  }

  private async sendExportFile(fileExtension: string, format: ExportFormat): Promise<void> {
    const { request, response, requestContext } = this;
    const { executor, trustedDocuments } = this.dependencies;
    const { list, variables, needsBom, fileName } = await parseExportRequest(
      request,
      requestContext,
      executor.schema,
      trustedDocuments,
    );
    const writer = format.createWriter(list, needsBom);
    const disconnectController = new AbortController();
    response.once('close', () => disconnectController.abort());
    const rows = new PageReader(
      list,
      executor,
      requestContext.resolverContext,
      variables,
      disconnectController.signal,
    ).readPages();
    const firstPage = await rows.next();
    releaseLargeBodySlot(request);
    response.status(200).set({
      ...requestContext.responseHeaders(),
      'Content-Type': format.mediaType,
      'Content-Disposition': `attachment; filename="${fileName}.${fileExtension}"`,
    });
    if (request.method === 'HEAD') return void response.end();
    await writeText(response, writer.header, disconnectController.signal);
    for (let page = firstPage; !page.done && !response.destroyed; page = await rows.next())
      await writeText(response, writer.formatRows(page.value), disconnectController.signal);
    response.end();
  }

  /** Sends an error response, or closes the connection if a part of the file has already been sent. */
  private handleError(error: unknown): void {
    const { response, requestContext } = this;
    if (!response.headersSent) {
      const clientError = error instanceof GraphQLError ? new ExportError([error]) : error;
      if (!(clientError instanceof ExportError)) throw error;
      return sendExportError(
        response,
        clientError,
        this.dependencies.executor.permitsIntrospection(requestContext.resolverContext),
      );
    }
    // An export that ended because its client disconnected is not logged as an error.
    if (!response.destroyed)
      this.dependencies.log.error(
        { id: requestContext.requestInfo.id, err: error },
        'an export could not be completed',
      );
    response.destroy();
  }
}

export function createExportHandler(dependencies: ExportDependencies): RequestHandler {
  const { maxExports } = dependencies.config;
  const limiters = new ClientLimiters({
    slots: maxExports,
    slotsPerClient: Math.ceil(maxExports / TOTAL_TO_CLIENT_SLOTS_RATIO),
  });
  return async (request, response, next) => {
    const fileExtension = request.path.startsWith(`${EXPORT_PATH}.`)
      ? request.path.slice(EXPORT_PATH.length + 1)
      : '';
    const format = EXPORT_FORMATS.get(fileExtension);
    if (!format) return next();
    await new ExportResponse(dependencies, request, response, dependencies.contextOf(request)).run(
      limiters,
      fileExtension,
      format,
    );
  };
}
