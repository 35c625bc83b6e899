/** One HTTP request: its session, its viewer, its context, and the line that the log has of it. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { signIn, viewerOf } from './auth/accounts';
import { tokenOfHeader } from './auth/header';
import type { LoginLimit } from './auth/limit';
import type { TokenVault } from './auth/tokens';
import type { Config } from './config';
import type { Context, Media } from './core/context';
import { Loaders } from './core/loaders';
import type { ReferenceTables } from './core/reference';
import type { Database } from './database/connection';
import type { Origin } from './origin';

export interface Services {
  config: Config;
  database: Database;
  reference: ReferenceTables;
  vault: TokenVault;
  limit: LoginLimit;
  origin: Origin;
  log: Logger;
}

const MAX_LANGUAGES = 10;

/** Two-letter codes in the order of preference. */
function languagesOf(header: string | undefined): string[] {
  if (!header) return [];
  return header
    .split(',')
    .map((part, index) => {
      const [tag = '', quality] = part.trim().split(/\s*;\s*q=/);
      return { code: tag.slice(0, 2).toLowerCase(), quality: quality === undefined ? 1 : Number(quality) || 0, index };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || a.index - b.index)
    .slice(0, MAX_LANGUAGES)
    .map(({ code }) => code);
}

export class HttpExchange {
  readonly id = randomUUID();
  private readonly began = performance.now();
  private readonly full: Context;

  constructor(
    private readonly request: IncomingMessage,
    private readonly services: Services & { media: Media },
    /** Of the Authorization header, in lower case. */
    private readonly schemes: readonly string[],
  ) {
    const { config, database, reference, vault, limit, origin, media } = services;
    const session = database.session();
    const log = services.log;
    this.full = {
      viewer: null,
      session,
      loaders: new Loaders(),
      reference,
      media,
      timeZone: config.timeZone,
      baseUrl: origin.baseUrl(request),
      languages: languagesOf(request.headers['accept-language']),
      log,
      async signIn(username, password) {
        await limit.count(origin.address(request), username);
        return signIn(username, password, session, vault);
      },
    };
  }

  get context(): Context & never {
    return this.full as Context & never;
  }

  get baseUrl(): string {
    return this.full.baseUrl;
  }

  async authenticate(): Promise<boolean> {
    const token = tokenOfHeader(this.request.headers.authorization, this.schemes);
    if (token === undefined) return false;
    this.full.viewer = await viewerOf(token, this.full.session);
    return true;
  }

  headers(): Record<string, string> {
    const { milliseconds, statements } = this.full.session;
    return this.services.config.serverTiming
      ? { 'Server-Timing': `db;dur=${milliseconds.toFixed(1)};desc="${statements} statements"` }
      : {};
  }

  /** One line a request; never a header, a body or a query, which may hold secrets. */
  logged(response: ServerResponse): void {
    if (!this.services.log.isLevelEnabled('info')) return;
    // express rewrites the URL while it looks for a handler.
    const path = (this.request.url ?? '').split('?')[0];
    const line = () => {
      const { viewer, session } = this.full;
      this.services.log.info(
        {
          id: this.id,
          method: this.request.method,
          path,
          status: response.statusCode,
          user: viewer?.id ?? null,
          ms: Math.round((performance.now() - this.began) * 10) / 10,
          statements: session.statements,
        },
        'request',
      );
    };
    response.once('close', line);
  }
}
