/**
 * REST router: serves every resource of a GraphQL schema over HTTP, without knowing any particular
 * resource.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { toDjangoJson, decodePrefixedFloats } from './drf/floats';
import { DRY_RUN_HEADER, DRY_RUN_MESSAGE, responseTooLongMessage } from '../shared/messages';
import { MAX_TOP_LEVEL_JSON_MEMBERS } from '../shared/json-limits';
import { OverloadedError } from '../shared/limiter';
import { stringifyIncrementally } from '../shared/incremental-json-writer';
import { anonymousMultipartLimits, type MultipartLimits } from '../shared/multipart';
import { authorizeRequest } from './authorization';
import { createRouteHandler } from './route-handler';
import { readBody, type ParsedBody } from './drf/body';
import { applyMethodOverride, readCsrfToken } from './drf/method-override';
import {
  MEDIA_TYPE_BY_FORMAT,
  negotiateRepresentation,
  negotiateForUnknownPath,
} from './drf/negotiation';
import { MAX_ROWS_PER_HTML_PAGE } from './drf/pagination';
import { parseQuery } from './drf/query-string';
import { deriveEndpoints, type Endpoints, type PrepareOperation } from './endpoints';
import { badRequestError, notFoundError, restErrorFromGraphQL, RestError } from './errors';
import type {
  ApiDescription,
  HtmlPage,
  HtmlRenderer,
  RenderInput,
  RestResponse,
  RestContext,
  RestRequest,
} from './request';
import { matchesIfNoneMatch } from './preconditions';
import {
  PRIVATE_CACHE_CONTROL,
  publicCacheHeaders,
  responseHeaders,
  sendResponse,
} from './response';
import { findRoute, READ_METHODS, type Route } from './routes';
import { setTimeout as sleep } from 'node:timers/promises';

/** Interval and maximum time in which a repeated form submission waits for the first response. */
const POLL_INTERVAL_MS = 100;
const MAX_WAIT_MS = 10_000;

/**
 * HTTP statuses that reject a single-use key: its first request still runs or its response was lost
 * (409), or the key was used for another request (422).
 */
const KEY_REJECTION_STATUSES = [409, 422];

const alreadySubmittedError = () =>
  new RestError(409, {
    detail:
      'This form has been submitted before. Check what was saved then. Submit it again to save these values as well.',
  });

/**
 * Runs `handle` once per single-use key of a form: a repeated submission receives the response to
 * the first one. A browser shows only the last response, so a second click waits for the response
 * to the first. `handle` returns REST errors as responses instead of throwing them.
 */
async function handleFormSubmissionOnce(
  request: RestRequest,
  idempotentExecution: RestContext['idempotentExecution'],
  options: { formIdempotencyKey: string; onlyWritesRows: boolean },
  handle: () => Promise<RestResponse>,
): Promise<RestResponse> {
  const submission = [request.method, (await request.readBody()).data];
  const deadline = performance.now() + MAX_WAIT_MS;

  for (;;) {
    try {
      return await idempotentExecution.runOnce(submission, handle, options);
    } catch (error) {
      const restError = error instanceof GraphQLError ? restErrorFromGraphQL(error) : undefined;

      if (!restError || !KEY_REJECTION_STATUSES.includes(restError.status)) throw error;
      // Without Retry-After, waiting is pointless: the form's key was used for other values, or the
      // response to its first submission was lost.
      if (restError.headers['Retry-After'] === undefined) throw alreadySubmittedError();
      if (performance.now() > deadline) throw error;
    }

    await sleep(POLL_INTERVAL_MS);
  }
}

export interface RestHandlerOptions {
  schema: GraphQLSchema;
  prepareOperation: PrepareOperation;
  contextOf(request: IncomingMessage): RestContext;
  createHtmlRenderer(api: ApiDescription): HtmlRenderer;

  /**
   * Runs `work` when a slot for HTML rendering is free, because rendering is slow. Clients share
   * the slots fairly. Request bodies are read before a slot is taken.
   */
  limitRendering<T>(message: IncomingMessage, work: () => Promise<T>): Promise<T>;
  multipartLimits: MultipartLimits;
  maxResponseBytes: number;
}

export type RestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function createRestHandler(options: RestHandlerOptions): RestHandler {
  const router = new Router(options);

  return (request, response) => router.handle(request, response);
}

/**
 * Runs `work` and turns a REST or GraphQL error into a response. Other errors are bugs in the
 * server and are rethrown.
 */
async function catchRestError<Result>(work: () => Promise<Result>): Promise<Result | RestError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RestError) return error;
    if (error instanceof GraphQLError) return restErrorFromGraphQL(error);
    throw error;
  }
}

/**
 * Lists with more rows than this are serialized in pieces, so that the event loop can handle other
 * requests in between.
 */
const MAX_ROWS_SERIALIZED_AT_ONCE = 200;
const countRows = (body: unknown): number =>
  (body as { results?: unknown[] } | null)?.results?.length ?? 0;

class Router {
  private readonly endpoints: Endpoints;
  private readonly handleRoute: ReturnType<typeof createRouteHandler>;
  private readonly htmlRenderer: HtmlRenderer;

  constructor(private readonly options: RestHandlerOptions) {
    const { schema, prepareOperation } = options;
    const endpoints = (this.endpoints = deriveEndpoints(schema, prepareOperation));

    this.handleRoute = createRouteHandler(schema, endpoints);
    const describeEndpoint: ApiDescription['describeEndpoint'] = (route, request) =>
      this.handleRoute(route, { ...request, method: 'OPTIONS' });

    this.htmlRenderer = options.createHtmlRenderer({ endpoints, describeEndpoint });
  }

  async handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = message.url ?? '/';
    const [path = ''] = url.split('?', 1);
    const queryString = url.slice(path.length);
    const context = this.options.contextOf(message);
    const route = findRoute(this.endpoints, path);

    if (route === 'redirect') {
      return void response
        .writeHead(301, {
          Location: `${path}/${queryString === '?' ? '' : queryString}`,
          'Content-Length': '0',
        })
        .end();
    }

    context.route = route;
    const { multipartLimits } = this.options;

    const limitsOf = (isSignedIn: boolean): MultipartLimits => {
      if (!isSignedIn) return anonymousMultipartLimits(multipartLimits);

      return { ...multipartLimits, senderUserId: context.authentication.senderUserId };
    };

    let bodyPromise: Promise<ParsedBody> | undefined;
    const request: RestRequest = {
      message,
      method: message.method ?? 'GET',
      path,
      query: parseQuery(queryString.slice(1)),
      route,
      representation: { format: 'json' },
      context,
      isSignedIn: false,
      readBody: (isSignedIn = request.isSignedIn) =>
        (bodyPromise ??= readBody(message, response, limitsOf(isSignedIn), () =>
          context.awaitTurn(),
        )),
    };

    await this.send(await catchRestError(() => this.processRequest(request)), request, response);
  }

  private async processRequest(request: RestRequest): Promise<RestResponse> {
    const { message, route, query, context } = request;
    const { accept } = message.headers;

    if (!route) {
      request.representation = negotiateForUnknownPath(accept);

      // Authenticates the client, because the HTML page for 404 shows who is signed in. Invalid
      // credentials are ignored.
      if (request.representation.format === 'api') {
        request.isSignedIn = await context.authentication.authenticate().catch(() => false);
      }

      throw notFoundError();
    }

    request.representation = negotiateRepresentation(accept, query, route.formatSuffix);

    if (query.size > MAX_TOP_LEVEL_JSON_MEMBERS) {
      throw badRequestError(`A query has at most ${MAX_TOP_LEVEL_JSON_MEMBERS} parameters.`);
    }

    const isHtmlPage = request.representation.format === 'api';

    if (message.headers[DRY_RUN_HEADER] !== undefined && !READ_METHODS.includes(request.method)) {
      throw badRequestError(DRY_RUN_MESSAGE);
    }

    if (isHtmlPage) request.maxLimit = MAX_ROWS_PER_HTML_PAGE;

    try {
      request.isSignedIn = await context.authentication.authenticate(() => readCsrfToken(request));
    } finally {
      // The form is read even if authentication fails, so that the page can show the typed values
      // again.
      if (isHtmlPage) await applyMethodOverride(request);
    }

    if (isHtmlPage) context.usePreferences();
    authorizeRequest(route, request);
    if (request.method === 'HEAD') request.method = 'GET';
    if (!isHtmlPage) return this.handleIdempotently(route, request);
    await this.htmlRenderer.interpretTypedText(request);

    if (READ_METHODS.includes(request.method)) {
      return this.options.limitRendering(request.message, () =>
        this.handleIdempotently(route, request),
      );
    }

    return this.handleIdempotently(route, request);
  }

  private async handleIdempotently(route: Route, request: RestRequest): Promise<RestResponse> {
    const { message, method, context, form } = request;
    const handle = () => this.handleRoute(route, request);
    const { idempotentExecution } = context;

    if (READ_METHODS.includes(method)) return handle();
    // Routes other than lists and rows have effects that an error must not roll back: a failed
    // sign-in, for example, must be counted.
    const onlyWritesRows = route.kind === 'list' || route.kind === 'detail';

    if (form?.formIdempotencyKey !== undefined) {
      return handleFormSubmissionOnce(
        request,
        idempotentExecution,
        { formIdempotencyKey: form.formIdempotencyKey, onlyWritesRows },
        () => catchRestError(handle),
      );
    }

    if (message.headers['idempotency-key'] === undefined) return handle();

    return idempotentExecution.runOnce(
      (await request.readBody()).data,
      () => catchRestError(handle),
      { onlyWritesRows },
    );
  }

  private async send(
    restResponse: RestResponse,
    request: RestRequest,
    response: ServerResponse,
  ): Promise<void> {
    const { message, representation, form, context, route } = request;
    const { status, body } = restResponse;
    const { maxResponseBytes } = this.options;
    const isHtmlPage =
      representation.format === 'api' && (body !== undefined || form !== undefined);
    let bodyText: string | undefined;

    if (!isHtmlPage && body !== undefined) {
      const isLongList =
        representation.indent === undefined && countRows(body) > MAX_ROWS_SERIALIZED_AT_ONCE;
      let json: string | undefined;

      if (isLongList) json = await stringifyIncrementally(body, maxResponseBytes);
      else json = JSON.stringify(body, null, representation.indent);

      bodyText = json === undefined ? undefined : toDjangoJson(json);
      const bytes = bodyText === undefined ? Infinity : Buffer.byteLength(bodyText);

      if (bytes > maxResponseBytes) {
        return this.send(
          badRequestError(responseTooLongMessage(maxResponseBytes)),
          request,
          response,
        );
      }

      context.chargeResponseBytes(bytes);
    }

    const headers = responseHeaders(request, restResponse.headers);

    // The ETag identifies the compact JSON representation; indented JSON and HTML have different
    // bytes.
    if (representation.format !== 'json' || representation.indent !== undefined) {
      delete headers.ETag;
    }

    const isSuccessfulRead = ['GET', 'HEAD'].includes(message.method!) && status === 200;
    const contentType = MEDIA_TYPE_BY_FORMAT.json;

    if (isSuccessfulRead && bodyText !== undefined) {
      if (!headers.ETag && !headers['Cache-Control']) {
        Object.assign(headers, publicCacheHeaders(bodyText));
      }

      if (headers['Cache-Control'] !== PRIVATE_CACHE_CONTROL) {
        context.keepResponse?.({ headers: { ...headers }, contentType, bodyText, route });
      }
    }

    Object.assign(headers, context.responseHeaders());

    if (isHtmlPage) {
      return this.sendPage(
        { request, restResponse: { ...restResponse, body: decodePrefixedFloats(body) }, headers },
        response,
      );
    }

    if (isSuccessfulRead && headers.ETag && matchesIfNoneMatch(message.headers, headers.ETag)) {
      return void response.writeHead(304, headers).end();
    }

    sendResponse(response, status, headers, contentType, bodyText);
  }

  private async sendPage(renderInput: RenderInput, response: ServerResponse): Promise<void> {
    const { status } = renderInput.restResponse;

    // A client without budget does not get a page with all values of its form, which is expensive
    // to render.
    if (status >= 500 || status === 429) return this.sendFailurePage(renderInput, response);
    const redirectHeaders = this.htmlRenderer.redirectHeaders(renderInput);

    if (redirectHeaders) {
      return sendResponse(
        response,
        303,
        { ...renderInput.headers, ...redirectHeaders },
        MEDIA_TYPE_BY_FORMAT.api,
        undefined,
      );
    }

    // Rendering an HTML page loads additional data. This may be rejected although the request
    // itself succeeded.
    const { request, restResponse, headers } = renderInput;
    const isCompletedWrite = !READ_METHODS.includes(request.method) && restResponse.status < 400;
    const page = await this.options
      .limitRendering(request.message, () =>
        catchRestError(() => this.renderWithinLimit(renderInput)),
      )
      .catch((error: unknown) => {
        if (isCompletedWrite && error instanceof OverloadedError) return undefined;
        throw error;
      });

    // If the page of a completed write cannot be rendered, JSON is sent: an error would suggest
    // that the write failed and could be repeated.
    if (page === undefined || (page instanceof RestError && isCompletedWrite)) {
      return sendResponse(
        response,
        restResponse.status,
        headers,
        MEDIA_TYPE_BY_FORMAT.json,
        toDjangoJson(JSON.stringify(restResponse.body)),
      );
    }

    if (page instanceof RestError) {
      return this.sendFailurePage(
        {
          ...renderInput,
          restResponse: page,
          headers: responseHeaders(renderInput.request, page.headers),
        },
        response,
      );
    }

    this.sendHtml(renderInput, page, response);
  }

  private async renderWithinLimit(renderInput: RenderInput): Promise<HtmlPage> {
    const { maxResponseBytes } = this.options;
    const page = await this.htmlRenderer.render(renderInput);

    if (Buffer.byteLength(page.htmlText) > maxResponseBytes) {
      throw badRequestError(responseTooLongMessage(maxResponseBytes));
    }

    return page;
  }

  private sendFailurePage(renderInput: RenderInput, response: ServerResponse): void {
    this.sendHtml(renderInput, this.htmlRenderer.renderError(renderInput), response);
  }

  private sendHtml(
    { request: { context }, restResponse, headers }: RenderInput,
    page: HtmlPage,
    response: ServerResponse,
  ): void {
    context.chargeResponseBytes(Buffer.byteLength(page.htmlText));
    // Rate limits and server timing include the rendering of the page.
    const pageHeaders = { ...headers, ...context.responseHeaders(), ...page.headers };

    sendResponse(
      response,
      restResponse.status,
      pageHeaders,
      `${MEDIA_TYPE_BY_FORMAT.api}; charset=utf-8`,
      page.htmlText,
    );
  }
}
