/**
 * Result cache: keeps finished responses to anonymous reads of public rows, until a public row
 * changes. An equal request is answered without routing, authentication and database.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { PublicDataVersion } from '../engine/changes/public-data';
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

/** Maximum length of a key, in characters. Those of browsers have a few hundred. */
const MAX_KEY_LENGTH = 4_000;

/** Maximum share of the cache that one response may occupy. */
const MAX_RESPONSE_SHARE = 1 / 16;

/** Memory of an entry besides its key and its bodies, in bytes. */
const ENTRY_OVERHEAD_BYTES = 1_000;

/** Headers of requests that are not cached: those with credentials or a body. */
const EXCLUDING_HEADERS = ['authorization', 'cookie', 'content-length', 'transfer-encoding'];

interface CacheEntry extends Omit<FinishedResponse, 'bodyText'> {
  version: number;
  body: Buffer;
  bodiesByCoding: Map<ContentCoding, Promise<Buffer>>;
}

/** A compressed body counts as half of the original one. */
const entryBytes = ({ body, bodiesByCoding }: CacheEntry, key: string): number =>
  Math.ceil(body.length * (1 + bodiesByCoding.size / 2)) + 2 * key.length + ENTRY_OVERHEAD_BYTES;

/** Key of a request that determines its response; undefined if the response may be personal. */
function keyOf(
  { method, url, headers }: IncomingMessage,
  { request: { baseUrl } }: RequestContext,
): string | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (EXCLUDING_HEADERS.some((name) => headers[name] !== undefined)) return undefined;
  const { accept, 'accept-language': languages } = headers;
  const key = JSON.stringify([baseUrl, url, accept, languages]);

  return key.length <= MAX_KEY_LENGTH ? key : undefined;
}

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
  ): Promise<void> | undefined {
    const version = this.publicData.current;
    const key = version === undefined ? undefined : keyOf(request, context);

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
    const { body, contentType, route } = entry;

    context.route = route;
    context.chargeResponseBytes(body.length);
    const headers = { ...entry.headers, ...context.responseHeaders() };

    if (headers.ETag && matchesIfNoneMatch(request.headers, headers.ETag)) {
      return void response.writeHead(304, headers).end();
    }

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
