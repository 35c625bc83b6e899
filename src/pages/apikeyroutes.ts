/** Routes of the API key page: show, create and replace the key, create and revoke access tokens, end sessions. Works without JavaScript. */
import type { Request, RequestHandler, Response, Router } from 'express';
import type { RequestContext } from '../request/requestcontext';
import { InvalidInput } from '../core/model/errors';
import { parseRowId } from '../core/model/ids';
import {
  TOKEN_LIFETIME_CHOICES,
  type ApiKeyPageAction,
  type RejectedTokenForm,
} from './accountsections';
import { sendPage, submittedText, submittedTexts, type FormValues } from './htmlresponse';
import { renderKeyPage, renderReplaceKeyPage, type KeyPageProps } from './apikeypage';
import { API_KEY_PAGE_PATH, REPLACE_KEY_PATH } from './apikeypath';
import { PAGE_HEADERS } from './securityheaders';

/** Returns the request context of the signed-in user. Redirects anonymous clients to the login page and returns undefined. */
type RequireSignIn = (request: Request, response: Response) => Promise<RequestContext | undefined>;

type ActionResult = Pick<KeyPageProps, 'notice' | 'newToken' | 'form'>;

const NOTICE_BY_ACTION: Partial<Record<ApiKeyPageAction, string>> = {
  make: 'Your API key was created.',
  replace: 'This is your new key. The previous key no longer works.',
};

const DAY_MS = 24 * 60 * 60 * 1000;

async function createAccessToken(
  values: FormValues,
  context: RequestContext,
): Promise<ActionResult> {
  const form = {
    name: submittedText(values, 'name') ?? '',
    scopes: submittedTexts(values, 'scope'),
    lifetimeDays: submittedText(values, 'days') ?? '',
  };
  const lifetimeDays =
    TOKEN_LIFETIME_CHOICES.find(([lifetime]) => lifetime === form.lifetimeDays)?.[0] ??
    TOKEN_LIFETIME_CHOICES[0]![0];
  const expiresAt =
    lifetimeDays === '' ? null : new Date(Date.now() + Number(lifetimeDays) * DAY_MS).toISOString();
  try {
    return { newToken: (await context.account.createAccessToken({ ...form, expiresAt })).token };
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const errors = error.issues.map(({ message }) => message);
    return { form: { ...form, errors } satisfies RejectedTokenForm };
  }
}

async function revokeAccessTokens(
  id: string | undefined,
  context: RequestContext,
): Promise<ActionResult> {
  const tokenId = id === undefined ? undefined : parseRowId(id);
  // A form with an invalid id revokes nothing. Without this check, the id would be undefined, which revokes all tokens.
  const revokedCount =
    id !== undefined && tokenId === undefined
      ? 0
      : await context.account.revokeAccessTokens(tokenId);
  return { notice: revokedCount ? 'Access revoked.' : 'Nothing to revoke.' };
}

export function addKeyRoutes(
  router: Router,
  parseForm: RequestHandler,
  requireSignIn: RequireSignIn,
): void {
  async function sendKeyPage(
    context: RequestContext,
    response: Response,
    isKeyRevealed: boolean,
    actionResult: ActionResult = {},
  ): Promise<void> {
    const { account, authentication, requestInfo } = context;
    const pageHtml = renderKeyPage({
      visitor: authentication.pageVisitor(),
      baseUrl: requestInfo.baseUrl,
      apiKey: await account.findApiKey(),
      tokens: await account.listAccessTokens(),
      events: await account.listSecurityEvents(),
      isKeyRevealed,
      ...actionResult,
    });
    sendPage(response, actionResult.form ? 400 : 200, pageHtml);
  }

  router.get(API_KEY_PAGE_PATH, async (request, response) => {
    const context = await requireSignIn(request, response);
    if (context) await sendKeyPage(context, response, false);
  });

  router.post(API_KEY_PAGE_PATH, parseForm, async (request, response) => {
    const context = await requireSignIn(request, response);
    if (!context) return;
    const values = request.body as FormValues;
    const action = submittedText(values, 'action') as ApiKeyPageAction | undefined;
    if (action === 'create-token')
      return sendKeyPage(context, response, false, await createAccessToken(values, context));
    if (action === 'revoke-token')
      return sendKeyPage(
        context,
        response,
        false,
        await revokeAccessTokens(submittedText(values, 'id') ?? '', context),
      );
    if (action === 'revoke-tokens')
      return sendKeyPage(context, response, false, await revokeAccessTokens(undefined, context));
    if (action === 'end-sessions') {
      await context.account.endSessions();
      return response
        .append('Set-Cookie', await context.authentication.endSession())
        .set(PAGE_HEADERS)
        .redirect(303, '/login');
    }
    const previousKey = await context.account.findApiKey();
    if (action === 'make' && !previousKey) await context.account.createOrReplaceApiKey();
    if (action === 'replace')
      await context.account.createOrReplaceApiKey(submittedText(values, 'replaced') ?? '');
    const key = await context.account.findApiKey();
    return sendKeyPage(context, response, true, {
      notice: key?.id === previousKey?.id ? undefined : action && NOTICE_BY_ACTION[action],
    });
  });

  router.get(REPLACE_KEY_PATH, async (request, response) => {
    const context = await requireSignIn(request, response);
    if (!context) return;
    const key = await context.account.findApiKey();
    if (!key) return response.set(PAGE_HEADERS).redirect(303, API_KEY_PAGE_PATH);
    sendPage(response, 200, renderReplaceKeyPage(context.authentication.pageVisitor(), key));
  });
}
