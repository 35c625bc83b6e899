/** Routes of the API key page: show, create and replace the key, create and revoke access tokens, end sessions. Works without JavaScript. */
import type { Request, RequestHandler, Response, Router } from 'express';
import { InvalidInput } from '../core/model/errors';
import { parseRowId } from '../core/model/ids';
import { TOKEN_LIFETIMES, type SecurityEventRow, type AccessTokenRow, type TokenForm } from './accountsections';
import { sendPage, fieldText, fieldTexts, type FormValues } from './htmlresponse';
import { renderKeyPage, renderReplacePage, type KeyAction, type KeyPageProps, type ApiKey } from './apikeypage';
import { KEY_PATH, REPLACE_KEY_PATH } from './apikeypath';
import { PAGE_HEADERS } from './securityheaders';
import type { Visitor } from './layout';

export interface KeyExchange {
  baseUrl: string;
  visitor(): Visitor;
  account: {
    key(): Promise<ApiKey | undefined>;
    renewKey(replacedKeyId?: string): Promise<void>;
    accessTokens(): Promise<readonly AccessTokenRow[]>;
    /** The most recent security events of the account. */
    events(): Promise<readonly SecurityEventRow[]>;
    credentials(): {
      createAccessToken(options: { name: string; scopes: readonly string[]; expiresAt: string | null }): Promise<{ token: string }>;
      revokeAccessTokens(id?: number): Promise<number>;
      endSessions(): Promise<number>;
    };
  };
  /** Ends the session and returns the Set-Cookie header that removes its cookie. */
  endSession(): Promise<string>;
}

interface KeyPageOptions<E extends KeyExchange> {
  form: RequestHandler;
  /** Returns the exchange of the signed-in user. Redirects anonymous clients to the login page and returns undefined. */
  signedIn(request: Request, response: Response): Promise<E | undefined>;
}

type ActionResult = Pick<KeyPageProps, 'notice' | 'made' | 'form'>;

const NOTICES: Partial<Record<KeyAction, string>> = {
  make: 'Your key was made.',
  replace: 'This is your new key. The one before it no longer works.',
};

const DAY_MS = 24 * 60 * 60 * 1000;

async function createToken(values: FormValues, exchange: KeyExchange): Promise<ActionResult> {
  const form = { name: fieldText(values, 'name') ?? '', scopes: fieldTexts(values, 'scope'), days: fieldText(values, 'days') ?? '' };
  const days = TOKEN_LIFETIMES.find(([lifetime]) => lifetime === form.days)?.[0] ?? TOKEN_LIFETIMES[0]![0];
  const expiresAt = days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString();
  try {
    return { made: (await exchange.account.credentials().createAccessToken({ ...form, expiresAt })).token };
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const mistakes = error.mistakes.map(({ message }) => message);
    return { form: { ...form, mistakes } satisfies TokenForm };
  }
}

async function revokeTokens(id: string | undefined, exchange: KeyExchange): Promise<ActionResult> {
  const tokenId = id === undefined ? undefined : parseRowId(id);
  // An invalid id revokes nothing: passing undefined on would revoke all tokens.
  const revokedCount = id !== undefined && tokenId === undefined ? 0 : await exchange.account.credentials().revokeAccessTokens(tokenId);
  return { notice: revokedCount ? 'Revoked: it works no more.' : 'There was nothing to revoke.' };
}

export function addKeyRoutes<E extends KeyExchange>(router: Router, { form, signedIn }: KeyPageOptions<E>): void {
  async function sendKeyPage(exchange: E, response: Response, revealed: boolean, actionResult: ActionResult = {}): Promise<void> {
    const [key, tokens, events] = [await exchange.account.key(), await exchange.account.accessTokens(), await exchange.account.events()];
    const page = renderKeyPage({ visitor: exchange.visitor(), baseUrl: exchange.baseUrl, key, tokens, events, revealed, ...actionResult });
    sendPage(response, actionResult.form ? 400 : 200, page);
  }

  router.get(KEY_PATH, async (request, response) => {
    const exchange = await signedIn(request, response);
    if (exchange) await sendKeyPage(exchange, response, false);
  });

  router.post(KEY_PATH, form, async (request, response) => {
    const exchange = await signedIn(request, response);
    if (!exchange) return;
    const values = request.body as FormValues;
    const action = fieldText(values, 'action') as KeyAction | undefined;
    if (action === 'create-token') return sendKeyPage(exchange, response, false, await createToken(values, exchange));
    if (action === 'revoke-token')
      return sendKeyPage(exchange, response, false, await revokeTokens(fieldText(values, 'id') ?? '', exchange));
    if (action === 'revoke-tokens') return sendKeyPage(exchange, response, false, await revokeTokens(undefined, exchange));
    if (action === 'end-sessions') {
      await exchange.account.credentials().endSessions();
      return response
        .append('Set-Cookie', await exchange.endSession())
        .set(PAGE_HEADERS)
        .redirect(303, '/login');
    }
    const previousKey = await exchange.account.key();
    if (action === 'make' && !previousKey) await exchange.account.renewKey();
    if (action === 'replace') await exchange.account.renewKey(fieldText(values, 'replaced') ?? '');
    const key = await exchange.account.key();
    return sendKeyPage(exchange, response, true, { notice: key?.id === previousKey?.id ? undefined : action && NOTICES[action] });
  });

  router.get(REPLACE_KEY_PATH, async (request, response) => {
    const exchange = await signedIn(request, response);
    if (!exchange) return;
    const key = await exchange.account.key();
    if (!key) return response.set(PAGE_HEADERS).redirect(303, KEY_PATH);
    sendPage(response, 200, renderReplacePage(exchange.visitor(), key));
  });
}
