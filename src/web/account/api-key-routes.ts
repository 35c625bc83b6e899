/**
 * Routes of the API key page: show, create and replace the key, create and revoke access tokens.
 * Works without JavaScript.
 */
import type { Request, RequestHandler, Response, Router } from 'express';
import type { RequestContext } from '../../request/request-context';
import { InvalidInput } from '../../engine/declare/errors';
import { parseRowId } from '../../engine/declare/node';
import {
  TOKEN_LIFETIME_CHOICES,
  type ApiKeyPageAction,
  type TokenFormValues,
} from './account-sections';
import { sendPage, textParameter, textParameters, type FormValues } from '../html-response';
import { renderApiKeyPage, renderReplaceApiKeyPage, type ApiKeyPageProps } from './api-key-page';
import { API_KEY_PAGE_PATH, REPLACE_API_KEY_PATH } from './account-paths';
import { PAGE_HEADERS } from '../security-headers';

/** Yields the request context of a signed-in user, or redirects to the login page. */
export type RequireSignIn = (
  request: Request,
  response: Response,
) => Promise<RequestContext | undefined>;

type ActionResult = Pick<ApiKeyPageProps, 'notice' | 'newToken' | 'form'>;

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
    name: textParameter(values, 'name') ?? '',
    scopes: textParameters(values, 'scope'),
    lifetimeDays: textParameter(values, 'days') ?? '',
  };
  const [defaultChoice] = TOKEN_LIFETIME_CHOICES;
  const choice = TOKEN_LIFETIME_CHOICES.find(([days]) => days === form.lifetimeDays);
  const [lifetimeDays] = choice ?? defaultChoice!;
  const expiresAt =
    lifetimeDays === '' ? null : new Date(Date.now() + Number(lifetimeDays) * DAY_MS).toISOString();

  try {
    return { newToken: (await context.account.createAccessToken({ ...form, expiresAt })).token };
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const errors = error.issues.map(({ message }) => message);

    return { form: { ...form, errors } satisfies TokenFormValues };
  }
}

/** Revokes the access token with this id, or all access tokens if it is undefined. */
async function revokeAccessTokens(
  id: string | undefined,
  context: RequestContext,
): Promise<ActionResult> {
  const tokenId = id === undefined ? undefined : parseRowId(id);
  // An invalid id must not become undefined, because that would revoke all tokens.
  const isInvalidId = id !== undefined && tokenId === undefined;
  const revokedCount = isInvalidId ? 0 : await context.account.revokeAccessTokens(tokenId);

  return { notice: revokedCount ? 'Access revoked.' : 'Nothing to revoke.' };
}

export function addApiKeyRoutes(
  router: Router,
  parseForm: RequestHandler,
  requireSignIn: RequireSignIn,
): void {
  async function sendApiKeyPage(
    context: RequestContext,
    response: Response,
    isKeyRevealed: boolean,
    actionResult: ActionResult = {},
  ): Promise<void> {
    const { account, authentication, request: requestInfo } = context;
    const pageHtml = renderApiKeyPage({
      visitor: authentication.pageVisitor(),
      baseUrl: requestInfo.baseUrl,
      apiKey: await account.findApiKey(),
      tokens: await account.listAccessTokens(),
      events: await account.listSecurityEvents(),
      timeZone: context.timeZone,
      isKeyRevealed,
      ...actionResult,
    });

    sendPage(response, actionResult.form ? 400 : 200, pageHtml);
  }

  router.get(API_KEY_PAGE_PATH, async (request, response) => {
    const context = await requireSignIn(request, response);

    if (context) await sendApiKeyPage(context, response, false);
  });

  router.post(API_KEY_PAGE_PATH, parseForm, async (request, response) => {
    const context = await requireSignIn(request, response);

    if (!context) return;
    const values = request.body as FormValues;
    const action = textParameter(values, 'action') as ApiKeyPageAction | undefined;

    if (action === 'create-token') {
      return sendApiKeyPage(context, response, false, await createAccessToken(values, context));
    }

    if (action === 'revoke-token') {
      return sendApiKeyPage(
        context,
        response,
        false,
        await revokeAccessTokens(textParameter(values, 'id') ?? '', context),
      );
    }

    if (action === 'revoke-tokens') {
      return sendApiKeyPage(context, response, false, await revokeAccessTokens(undefined, context));
    }

    const previousKey = await context.account.findApiKey();

    if (action === 'make' && !previousKey) await context.account.createOrReplaceApiKey();

    if (action === 'replace') {
      await context.account.createOrReplaceApiKey(textParameter(values, 'replaced') ?? '');
    }

    const key = await context.account.findApiKey();

    const hasChanged = key?.id !== previousKey?.id;
    const notice = action && hasChanged ? NOTICE_BY_ACTION[action] : undefined;

    return sendApiKeyPage(context, response, true, { notice });
  });

  router.get(REPLACE_API_KEY_PATH, async (request, response) => {
    const context = await requireSignIn(request, response);

    if (!context) return;
    const key = await context.account.findApiKey();

    if (!key) return response.set(PAGE_HEADERS).redirect(303, API_KEY_PAGE_PATH);
    sendPage(response, 200, renderReplaceApiKeyPage(context.authentication.pageVisitor(), key));
  });
}
