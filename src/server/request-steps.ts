/** The steps of an HTTP request, in the order in which they run. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import onHeaders from 'on-headers';
import { ClientError, isTransientError } from '../engine/declare/errors';
import { prefersHtml } from '../web/failure-page';
import { isReferencePath } from '../web/reference';
import { compressResponse } from '../shared/compression';
import { isPreflight } from '../shared/cors';
import { observeRequest } from '../request/access-log';
import { cancelReadsOnDisconnect } from '../request/request-context';
import { PRIVATE_CACHE_CONTROL } from '../rest/response';
import type { RestHandler } from '../rest/router';
import { API_BASE_PATH } from '../rest/routes';
import type { AdmissionControl } from './admission-control';
import { discardUnreadBody } from './connections';
import { findRepeatedHeader, normalizeTarget } from './request-target';
import { isProbeRequest, type AppDependencies } from './routes';

/** Either sends the response or calls `next`, now or later. */
type Step = (request: IncomingMessage, response: ServerResponse, next: RequestListener) => void;

interface StepDependencies extends Pick<
  AppDependencies,
  'services' | 'requestContexts' | 'errorResponder' | 'errorContainment' | 'cors' | 'resultCache'
> {
  admissionControl: AdmissionControl;
  restHandler: RestHandler;
  expressApp: RequestListener;
}

/**
 * Cache headers of GraphQL responses, unless their operation only reads public rows.
 */
const GRAPHQL_HEADERS: readonly [string, string][] = [
  ['Cache-Control', PRIVATE_CACHE_CONTROL],
  ['Vary', 'Accept, Accept-Language, Authorization, Cookie'],
];

const isRestRequest = ({ url }: IncomingMessage): boolean =>
  url!.startsWith(API_BASE_PATH) && !isReferencePath(url!);

export function createRequestListener(dependencies: StepDependencies): RequestListener {
  const {
    services,
    requestContexts,
    errorResponder,
    errorContainment,
    cors,
    admissionControl,
    resultCache,
    restHandler,
    expressApp,
  } = dependencies;
  const { config, forwardedHeaders } = services;

  const catchErrors: Step = (request, response, next) =>
    errorContainment.catchErrors(request, response, () => next(request, response));

  const prepareRequest: Step = (request, response, next) => {
    request.url = normalizeTarget(request.url!);
    response.setHeader('X-Request-Id', forwardedHeaders.assignRequestId(request));
    cors.addHeaders(request, response);
    discardUnreadBody(request, response);
    if (forwardedHeaders.basePath) redirectBelow(forwardedHeaders.basePath, response);
    next(request, response);
  };

  const rejectRepeatedHeaders: Step = (request, response, next) => {
    const repeatedHeader = findRepeatedHeader(request);

    if (!repeatedHeader) return next(request, response);
    errorResponder.sendError(
      request,
      response,
      400,
      'BAD_REQUEST',
      `The header ${repeatedHeader} may occur only once.`,
    );
  };

  const admit: Step = (request, response, next) => {
    // A browser sends the actual request only if its preflight request succeeds.
    if (isProbeRequest(request) || isPreflight(request)) next(request, response);
    else admissionControl.admit(request, response, next);
  };

  const createContext: Step = (request, response, next) => {
    const context = requestContexts.create(request, isRestRequest(request));

    cancelReadsOnDisconnect(context, response);
    observeRequest(request, response, context, services);
    next(request, response);
  };

  const compress: Step = (request, response, next) => {
    compressResponse(request, response);
    next(request, response);
  };

  const respondToPreflight: Step = (request, response, next) => {
    if (!cors.respondToPreflight(request, response)) next(request, response);
  };

  const addHstsHeader: Step = (request, response, next) => {
    // RFC 6797 permits this header (HSTS) only in responses over HTTPS.
    if (config.hstsMaxAge && forwardedHeaders.isEncrypted(request)) {
      response.setHeader('Strict-Transport-Security', `max-age=${config.hstsMaxAge}`);
    }

    next(request, response);
  };

  const signInByProxy: Step = (request, response, next) => {
    const username = forwardedHeaders.proxyUsername(request);

    // Other schemes, such as Basic, are those of the proxy.
    const hasToken = /^(?:token|bearer)\s/i.test(request.headers.authorization ?? '');

    if (username === undefined || hasToken) return next(request, response);

    const isPage = request.method === 'GET' && prefersHtml(request.headers.accept, request.url);

    requestContexts
      .get(request)
      .account.startProxySession(username, isPage)
      .then((sessionCookie) => {
        if (sessionCookie !== undefined) {
          response.appendHeader('Set-Cookie', sessionCookie);
          [request.headers.cookie] = sessionCookie.split(';', 1);
        }

        next(request, response);
      })
      .catch((error: unknown) => {
        if (!(error instanceof ClientError) || isTransientError(error)) {
          return errorResponder.handleError(error, request, response);
        }

        errorResponder.sendError(request, response, 403, 'FORBIDDEN', error.message);
      });
  };

  const respondFromCache: Step = (request, response, next) => {
    const sent =
      isRestRequest(request) &&
      resultCache?.respond(request, response, requestContexts.get(request));

    if (!sent) return next(request, response);
    sent.catch((error: unknown) => errorResponder.handleError(error, request, response));
  };

  // REST bypasses Express, which would take more than half of the duration of a short request.
  const handleWithRest: Step = (request, response, next) => {
    if (isRestRequest(request)) {
      restHandler(request, response).catch((error) =>
        errorResponder.handleError(error, request, response),
      );
    } else next(request, response);
  };

  const handleWithExpress: Step = (request, response) => {
    // The header is set before routing, so that error responses also have it.
    response.setHeader('X-Content-Type-Options', 'nosniff');

    if (request.url!.startsWith('/graphql')) {
      for (const [name, value] of GRAPHQL_HEADERS) response.appendHeader(name, value);
    }

    expressApp(request, response);
  };

  return chainSteps([
    catchErrors,
    prepareRequest,
    rejectRepeatedHeaders,
    admit,
    createContext,
    respondToPreflight,
    addHstsHeader,
    signInByProxy,
    respondFromCache,
    compress,
    handleWithRest,
    handleWithExpress,
  ]);
}

/** Inserts the base path into the `Location` header, if it is a path. */
const redirectBelow = (basePath: string, response: ServerResponse): void =>
  onHeaders(response, () => {
    const location = response.getHeader('Location');

    if (typeof location === 'string' && /^\/(?!\/)/.test(location)) {
      response.setHeader('Location', basePath + location);
    }
  });

/** Chains the steps at startup, so that a request creates no functions. */
const chainSteps = (steps: readonly Step[]): RequestListener =>
  steps.reduceRight<RequestListener>(
    (next, step) => (request, response) => step(request, response, next),
    () => undefined,
  );
