/**
 * Result cache: keeps finished responses to anonymous reads of public rows, until a public row
 * changes. An equal request is answered without routing, authentication and database.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { PublicDataVersion } from '../engine/changes/public-data';
import { CSRF_PREVENTION_HEADERS } from '../graphql/apollo';
import type { RequestContext } from '../request/request-context';
import { matchesIfNoneMatch } from '../rest/preconditions';
import type { FinishedResponse } from '../rest/request';
import { sendResponse } from '../rest/response';
import {
  encodeBody,
  headersWithCoding,
  negotiateCoding,
  type ContentCoding,
} from '../shared/compression';
import { DRY_RUN_HEADER } from '../shared/messages';

/** Maximum length of a key, in characters, most of which are a GraphQL document. */
const MAX_KEY_LENGTH = 16_000;

/** Maximum share of the cache that one response may occupy. */
const MAX_RESPONSE_SHARE = 1 / 16;

/** Memory of an entry besides its key and its bodies, in bytes. */
const ENTRY_OVERHEAD_BYTES = 1_000;

/** Request headers on which responses depend, besides credentials and those of the proxy. */
const KEY_HEADERS = ['accept', 'accept-language', 'content-type', ...CSRF_PREVENTION_HEADERS];

interface CacheEntry extends Omit<FinishedResponse, 'bodyText'> {
  version: number;
  body: Buffer;
  bodiesByCoding: Map<ContentCoding, Promise<Buffer>>;
}

/** A compressed body counts as half of the original one. */
const entryBytes = ({ body, bodiesByCoding }: CacheEntry, key: string): number =>
  Math.ceil(body.length * (1 + bodiesByCoding.size / 2)) + 2 * key.length + ENTRY_OVERHEAD_BYTES;

/**
 * Key of a request, which determines its response; undefined if the response may be personal.
 * `bodyText` is the body of a POST request.
 */
function keyOf(
  { method, url, headers }: IncomingMessage,
  { isAnonymous, request: { baseUrl } }: RequestContext,
  bodyText: string | undefined,
): string | undefined {
  const hasReadBody = method === 'POST' ? bodyText !== undefined : !hasBody(headers);
  const isRead = method === 'GET' || method === 'HEAD' || method === 'POST';

  if (!isAnonymous || !isRead || !hasReadBody || headers[DRY_RUN_HEADER] !== undefined) {
    return undefined;
  }

  if (bodyText !== undefined && bodyText.length > MAX_KEY_LENGTH) return undefined;

  const values = KEY_HEADERS.map((name) => headers[name]);
  const key = JSON.stringify([baseUrl, url, ...values, bodyText]);

  return key.length <= MAX_KEY_LENGTH ? key : undefined;
}

const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

export class ResultCache {
  readonly counts = { hit: 0, miss: 0 };
  private readonly entries: LRUCache<string, CacheEntry>;

  constructor(
    private readonly maxBytes: number,
    private readonly publicData: PublicDataVersion,
  ) {
    this.entries = new LRUCache({ maxSize: maxBytes, sizeCalculation: entryBytes });
  }

  get size(): { entries: number; bytes: number } {
    return { entries: this.entries.size, bytes: this.entries.calculatedSize };
  }

  /**
   * Sends the kept response to an equal request. Otherwise returns undefined, and lets the context
   * keep the response to this one.
   */
  respond(
    request: IncomingMessage,
    response: ServerResponse,
    context: RequestContext,
    bodyText?: string,
  ): Promise<void> | undefined {
    const version = this.publicData.current;
    const key = version === undefined ? undefined : keyOf(request, context, bodyText);

    if (key === undefined) return undefined;
    const entry = this.entries.get(key);

    // A client that has spent its budget gets the same error as without the cache.
    if (entry?.version === version && !context.budget?.isSpent) {
      this.counts.hit += 1;
      return this.send(entry!, key, request, response, context);
    }

    this.counts.miss += 1;

    context.keepResponse = ({ bodyText, ...others }) => {
      const isLong = bodyText.length > this.maxBytes * MAX_RESPONSE_SHARE;

      if (isLong || this.publicData.current !== version) return;
      const body = Buffer.from(bodyText);

      this.entries.set(key, { ...others, body, version: version!, bodiesByCoding: new Map() });
    };

    return undefined;
  }

  private async send(
    entry: CacheEntry,
    key: string,
    request: IncomingMessage,
    response: ServerResponse,
    context: RequestContext,
  ): Promise<void> {
    const { body, contentType, route, operationName } = entry;

    context.route = route;
    context.operationName = operationName;
    context.chargeResponseBytes(body.length);
    const headers = { ...entry.headers, ...context.responseHeaders() };

    if (headers.ETag && matchesIfNoneMatch(request.headers, headers.ETag)) {
      return void response.writeHead(304, headers).end();
    }

    // Those of GraphQL responses are set before.
    if (!headers.Vary) headers.Vary = String(response.getHeader('Vary'));
    const coding = negotiateCoding(request, headers.Vary, body.length);

    if (coding === undefined) return sendResponse(response, 200, headers, contentType, body);
    const codedHeaders = headersWithCoding(headers, coding);
    const codedBody = coding === 'identity' ? body : await this.bodyIn(coding, entry, key);

    sendResponse(response, 200, codedHeaders, contentType, codedBody);
  }

  private bodyIn(coding: ContentCoding, entry: CacheEntry, key: string): Promise<Buffer> {
    let body = entry.bodiesByCoding.get(coding);

    if (!body) {
      body = encodeBody(entry.body, coding);
      // A new entry, because `LRUCache.set` ignores a new size of the same one.
      const bodiesByCoding = new Map(entry.bodiesByCoding).set(coding, body);

      if (this.entries.peek(key) === entry) this.entries.set(key, { ...entry, bodiesByCoding });
    }

    return body;
  }
}
