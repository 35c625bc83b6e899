/**
 * The endpoint `/metrics` for Prometheus: protected by a bearer token, on a separate port, or both.
 */
import { timingSafeEqual, createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { ConfigError, type Config } from '../shared/config';

export const METRICS_PATH = '/metrics';

/** Collects the metrics of all workers in Prometheus text format. */
export type CollectMetrics = () => Promise<string>;

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const MAX_AUTHORIZATION_LENGTH = 500;

const sha256 = (text: string) => createHash('sha256').update(text).digest();

function isAuthorized({ headers }: IncomingMessage, token: string | undefined): boolean {
  if (token === undefined) return true;
  const { authorization = '' } = headers;

  // Compares digests, because timingSafeEqual requires values of equal length.
  return (
    authorization.length <= MAX_AUTHORIZATION_LENGTH &&
    timingSafeEqual(sha256(authorization), sha256(`Bearer ${token}`))
  );
}

/** Creates the request listener of the endpoint. Concurrent requests share one scrape. */
export function metricsHandler(token: string | undefined, scrape: CollectMetrics): RequestListener {
  let runningScrape: Promise<string> | undefined;

  return (request, response) => {
    if (!isAuthorized(request, token)) {
      return sendText(response, 401, 'A bearer token is required (METRICS_TOKEN).\n', {
        'WWW-Authenticate': 'Bearer realm="metrics"',
      });
    }

    runningScrape ??= scrape().finally(() => (runningScrape = undefined));
    runningScrape.then(
      (text) => sendText(response, 200, text, { 'Content-Type': CONTENT_TYPE }),
      (error: Error) => sendText(response, 503, `${error.message}\n`, { 'Retry-After': '5' }),
    );
  };
}

function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string>,
): void {
  const commonHeaders = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  };

  response
    .writeHead(status, { ...commonHeaders, 'Content-Length': Buffer.byteLength(text), ...headers })
    .end(text);
}

export async function serveMetrics(
  { port, host, token }: NonNullable<Config['metrics']>,
  scrape: CollectMetrics,
): Promise<Server> {
  const handleScrape = metricsHandler(token, scrape);
  const server = createServer(
    { headersTimeout: 5_000, requestTimeout: 5_000 },
    (request, response) => {
      const isMetricsRequest =
        request.url?.split('?', 1)[0] === METRICS_PATH && ['GET', 'HEAD'].includes(request.method!);

      if (isMetricsRequest) handleScrape(request, response);
      else sendText(response, 404, `Not found. Metrics are at ${METRICS_PATH}.\n`, {});
    },
  );

  server.listen(port, host);
  await once(server, 'listening').catch(({ message }: Error) => {
    throw new ConfigError(`METRICS_PORT: ${message}`);
  });

  return server;
}
