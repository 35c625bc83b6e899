/** `/metrics`, as Prometheus asks for it: with a bearer token, on a port of its own, or both. */
import { timingSafeEqual, createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { ConfigError, type Config } from '../platform/config';

export const METRICS_PATH = '/metrics';

/** Answers the text of all workers, in the format of Prometheus. */
export type Scrape = () => Promise<string>;

const TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const MAX_HEADER = 500;

const digest = (text: string) => createHash('sha256').update(text).digest();

function mayRead({ headers }: IncomingMessage, token: string | undefined): boolean {
  if (token === undefined) return true;
  const { authorization = '' } = headers;
  // Digests, because texts of any length are compared in the same time.
  return authorization.length <= MAX_HEADER && timingSafeEqual(digest(authorization), digest(`Bearer ${token}`));
}

/** Who asks while an answer is made gets the same one. */
export function metricsPage(token: string | undefined, scrape: Scrape): RequestListener {
  let scraping: Promise<string> | undefined;
  return (request, response) => {
    if (!mayRead(request, token))
      return say(response, 401, 'A bearer token is needed, METRICS_TOKEN.\n', { 'WWW-Authenticate': 'Bearer realm="metrics"' });
    scraping ??= scrape().finally(() => (scraping = undefined));
    scraping.then(
      (text) => say(response, 200, text, { 'Content-Type': TYPE }),
      (error: Error) => say(response, 503, `${error.message}\n`, { 'Retry-After': '5' }),
    );
  };
}

function say(response: ServerResponse, status: number, text: string, headers: Record<string, string>): void {
  const common = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  response.writeHead(status, { ...common, 'Content-Length': Buffer.byteLength(text), ...headers }).end(text);
}

/** The port of its own, with nothing else on it. */
export async function serveMetrics({ port, host, token }: NonNullable<Config['metrics']>, scrape: Scrape): Promise<Server> {
  const page = metricsPage(token, scrape);
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, (request, response) => {
    const isAsked = request.url?.split('?', 1)[0] === METRICS_PATH && ['GET', 'HEAD'].includes(request.method!);
    if (isAsked) page(request, response);
    else say(response, 404, `There is only ${METRICS_PATH}.\n`, {});
  });
  await new Promise<void>((resolve, reject) => {
    const refused = ({ message }: Error) => reject(new ConfigError(`METRICS_PORT: ${message}`));
    server.once('error', refused).listen(port, host, () => {
      server.off('error', refused);
      resolve();
    });
  });
  return server;
}
