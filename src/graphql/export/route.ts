/**
 * Streaming export: `/graphql/export.csv` and `.jsonl` send the rows of one list as a file. A page
 * is read only after the previous page has been sent (backpressure). An error after the first page
 * aborts the connection, so that the client notices that the file is incomplete.
 */
import { once } from 'node:events';
import type { Request, RequestHandler, Response } from 'express';
import { GraphQLError, getOperationAST } from 'graphql';
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { ClientError, invalidArgumentError, overloadedError } from '../../engine/declare/errors';
import type { Executor, Variables } from '../../engine/execution/executor';
import type { RequestContext } from '../../request/request-context';
import { EXPORT_PATH } from '../../web/export-path';
import { releaseLargeBodySlot } from '../../shared/body-limit';
import type { Config } from '../../shared/config';
import { UNBUFFERED_HEADERS } from '../../shared/proxy-buffering';
import { ClientLimiters, MAX_TIMER_MS, type LimiterClientKey } from '../../shared/limiter';
import { withHttpStatus } from '../http-errors';
import type { TrustedDocuments } from '../trusted-documents';
import { EXPORT_FORMATS, type ExportFormat } from './formats';
import { PageReader } from './pages';
import { sendExportError, ExportError } from './errors';
import type { Context } from '../../engine/context';
import { coerceVariables } from '../../engine/execution/variables';
import { CHOOSE_OPERATION_MESSAGE, DRY_RUN_HEADER, DRY_RUN_MESSAGE } from '../../shared/messages';
import { isDryRun } from '../dry-run';
import { parseClientDocument } from '../document-limits';
import { findExportedList, type ExportedList } from './list';

/** An export request: an operation from the query string or a JSON body, validated. */
interface ExportRequest {
  list: ExportedList;

  /** Variables as sent by the client, not coerced. */
  variables: Variables;

  /** Name of the exported file without extension. */
  fileName: string;

  /** Parameters of the file format. */
  formatParameters: ReadonlyMap<string, string>;
}

type ExportParameters = Record<string, unknown>;

const MAX_FILENAME_CHARACTERS = 100;

function parseObject(name: string, value: unknown): ExportParameters {
  const notAnObjectError = () => invalidArgumentError(name, 'Must be a JSON object.');
  let parsedValue: unknown = value;

  if (typeof value === 'string' && value !== '') {
    try {
      parsedValue = JSON.parse(value);
    } catch {
      throw notAnObjectError();
    }
  }

  if (parsedValue === undefined || parsedValue === null || parsedValue === '') return {};
  if (typeof parsedValue !== 'object' || Array.isArray(parsedValue)) throw notAnObjectError();

  return parsedValue as ExportParameters;
}

function readParameters(request: Request, queryParameters: URLSearchParams): ExportParameters {
  if (request.method !== 'POST') return Object.fromEntries(queryParameters);
  const body = request.body as unknown;

  if (!request.is('json') || body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw new ClientError(
      'BAD_REQUEST',
      'The body must be a JSON object with the Content-Type application/json.',
    );
  }

  return body as ExportParameters;
}

const OPERATION_PARAMETER_NAMES = [
  'query',
  'variables',
  'operationName',
  'extensions',
  'id',
  'documentId',
];

function rejectUnknownParameters(
  place: 'URL' | 'body',
  parameterNames: Iterable<string>,
  knownNames: readonly string[],
): void {
  const unknownName = [...parameterNames].find((name) => !knownNames.includes(name));

  if (unknownName === undefined) return;
  const knownList = knownNames.map((name) => `\`${name}\``).join(', ') || 'none';

  throw invalidArgumentError(
    unknownName,
    `Unknown parameter. The ${place} of this export has these: ${knownList}.`,
  );
}

async function parseExportRequest(
  request: Request,
  requestContext: RequestContext,
  { executor, trustedDocuments }: Pick<ExportDependencies, 'executor' | 'trustedDocuments'>,
  format: ExportFormat,
): Promise<ExportRequest> {
  const { schema } = executor;
  const context: Context = requestContext;
  const queryParameters = new URL(request.url, 'http://localhost').searchParams;
  const parameters = readParameters(request, queryParameters);
  let urlParameterNames = format.parameterNames;

  // The parameters of the format are in the URL, even if the operation is in a body.
  if (request.method === 'POST') {
    rejectUnknownParameters('body', Object.keys(parameters), OPERATION_PARAMETER_NAMES);
  } else urlParameterNames = [...OPERATION_PARAMETER_NAMES, ...urlParameterNames];

  rejectUnknownParameters('URL', queryParameters.keys(), urlParameterNames);
  const extensions = parseObject('extensions', parameters.extensions);
  const { query, operationName, ...otherParameters } = trustedDocuments.resolveOperationId({
    ...parameters,
    extensions,
  });

  if (isDryRun(otherParameters.extensions, request.get(DRY_RUN_HEADER))) {
    throw new ClientError('BAD_REQUEST', DRY_RUN_MESSAGE);
  }

  const variables = parseObject('variables', otherParameters.variables);

  if (typeof query !== 'string') {
    throw invalidArgumentError(
      'query',
      'Send the text of an operation, or the `id` of a stored one.',
    );
  }

  const document = await parseClientDocument(schema, query, requestContext);

  if (!('kind' in document)) throw new ExportError(document);
  const name =
    typeof operationName === 'string' && operationName !== '' ? operationName : undefined;
  const operation = getOperationAST(document, name);

  if (!operation) {
    throw new ClientError('OPERATION_RESOLUTION_FAILURE', CHOOSE_OPERATION_MESSAGE);
  }

  requestContext.operationName = operation.name?.value ?? null;
  const coercionResult = coerceVariables(
    schema,
    operation,
    variables,
    !executor.permitsIntrospection(context),
  );

  if (coercionResult.errors) throw new ExportError(coercionResult.errors);
  const list = findExportedList(schema, document, operation, coercionResult.values);

  return {
    list,
    variables,
    formatParameters: new Map(queryParameters),
    fileName: (operation.name?.value ?? list.name).slice(0, MAX_FILENAME_CHARACTERS),
  };
}

interface ExportDependencies {
  executor: Executor;
  trustedDocuments: TrustedDocuments;
  config: Pick<Config, 'exportTimeout' | 'maxExports' | 'maxResponseBytes'>;
  contextOf(request: IncomingMessage): RequestContext;
  log: Logger;
}

const EXPORT_RETRY_AFTER_SECONDS = 10;

/**
 * Ratio of all export slots to the slots of one client. The number of slots per client is rounded
 * up.
 */
const TOTAL_TO_CLIENT_SLOTS_RATIO = 4;

/**
 * Takes a slot for an export, because each running export occupies memory. Throws if no slot is
 * free.
 */
function acquireExportSlot(limiters: ClientLimiters, clientKey: LimiterClientKey): void {
  const limiter = limiters.forClient(clientKey);

  if (limiter.tryAcquire(clientKey)) return;
  const runningExportCount = limiter.busySlotsOf(clientKey);

  if (runningExportCount < limiter.limits.slotsPerClient) throw overloadedError();
  const message = `You already have ${runningExportCount} running exports. Try again when one of them has finished.`;

  throw new ClientError('TOO_MANY_REQUESTS', message, { retryAfter: EXPORT_RETRY_AFTER_SECONDS });
}

/**
 * Writes text to the response and, if its buffer is full, waits until it drains or the client
 * disconnects.
 */
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
    const { requestContext } = this;
    let clientKey: LimiterClientKey | undefined;
    const timeout = this.startExportTimer();

    try {
      await authenticateClient(requestContext);
      const { session } = requestContext;

      acquireExportSlot(limiters, session.clientKey);
      clientKey = session.clientKey;
      await this.sendExportFile(fileExtension, format);
    } catch (error) {
      this.handleError(error);
    } finally {
      clearTimeout(timeout);
      if (clientKey !== undefined) limiters.forClient(clientKey).release(clientKey);
    }
  }

  private startExportTimer(): NodeJS.Timeout {
    const { config, log } = this.dependencies;

    const abortExport = () => {
      log.warn(
        { id: this.requestContext.request.id, ms: config.exportTimeout },
        'an export took too long',
      );
      this.response.destroy();
    };

    return setTimeout(abortExport, config.exportTimeout || MAX_TIMER_MS).unref();
  }

  private async sendExportFile(fileExtension: string, format: ExportFormat): Promise<void> {
    const { request, response, requestContext } = this;
    const { executor, config } = this.dependencies;
    const { list, variables, formatParameters, fileName } = await parseExportRequest(
      request,
      requestContext,
      this.dependencies,
      format,
    );
    const writer = format.createWriter(list, formatParameters);
    const disconnectController = new AbortController();

    response.once('close', () => disconnectController.abort());
    const pages = new PageReader(
      list,
      executor,
      requestContext,
      variables,
      writer.formatRows,
      config.maxResponseBytes,
      disconnectController.signal,
    ).readPages();
    const firstPage = await pages.next();

    releaseLargeBodySlot(request);
    response.status(200).set({
      ...requestContext.responseHeaders(),
      ...UNBUFFERED_HEADERS,
      'Content-Type': format.mediaType,
      'Content-Disposition': `attachment; filename="${fileName}.${fileExtension}"`,
    });
    if (request.method === 'HEAD') return void response.end();
    await writeText(response, writer.header, disconnectController.signal);

    for (let page = firstPage; !page.done && !response.destroyed; page = await pages.next()) {
      await writeText(response, page.value, disconnectController.signal);
    }

    response.end();
  }

  /** Sends an error response, or closes the connection if part of the file has been sent. */
  private handleError(error: unknown): void {
    const { response, requestContext } = this;

    if (!response.headersSent) {
      const clientError = error instanceof GraphQLError ? new ExportError([error]) : error;

      if (!(clientError instanceof ExportError)) throw error;

      return sendExportError(
        response,
        clientError,
        this.dependencies.executor.permitsIntrospection(requestContext),
      );
    }

    // A disconnected client is not logged as an error.
    if (!response.destroyed) {
      this.dependencies.log.error(
        { id: requestContext.request.id, err: error },
        'an export could not be completed',
      );
    }

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
    if (!request.path.startsWith(`${EXPORT_PATH}.`)) return next();
    const fileExtension = request.path.slice(EXPORT_PATH.length + 1);
    const format = EXPORT_FORMATS.get(fileExtension);

    if (!format) return next();
    await new ExportResponse(dependencies, request, response, dependencies.contextOf(request)).run(
      limiters,
      fileExtension,
      format,
    );
  };
}
