/**
 * Routes of the API key page: show, create and replace the key, create and revoke access tokens.
 * Works without JavaScript.
 */
import type { RequestHandler, Router } from 'express';
import { InvalidInput } from '../../engine/declare/errors';
import { parseRowId } from '../../engine/declare/node';
import { TOKEN_LIFETIME_CHOICES } from './account-sections';
import { textOf, textParameter, textParameters } from '../html-response';
import { apiKeyPage, replacementPage } from './api-key-page';
import { API_KEY_PAGE_PATH, REPLACE_API_KEY_PATH } from './account-paths';
import type { Answer, ForUsers, UserRequest } from './user-pages';

const DAY_MS = 24 * 60 * 60 * 1000;

async function createAccessToken(request: UserRequest): Promise<Answer> {
  const { body, context } = request;
  const form = {
    name: textParameter(body, 'name') ?? '',
    scopes: textParameters(body, 'scope'),
    lifetimeDays: textOf(body, 'days'),
  };
  const [defaultChoice] = TOKEN_LIFETIME_CHOICES;
  const choice = TOKEN_LIFETIME_CHOICES.find(([days]) => days === form.lifetimeDays);
  const [lifetimeDays] = choice ?? defaultChoice!;
  const expiresAt =
    lifetimeDays === '' ? null : new Date(Date.now() + Number(lifetimeDays) * DAY_MS).toISOString();

  try {
    const { token } = await context.account.createAccessToken({ ...form, expiresAt });

    return apiKeyPage(request, false, { newToken: token });
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const errors = error.issues.map(({ message }) => message);

    return apiKeyPage(request, false, { form: { ...form, errors } });
  }
}

/** Revokes the access token with this id, or all access tokens if it is undefined. */
async function revokeAccessTokens(request: UserRequest, id?: number): Promise<Answer> {
  const revokedCount = await request.context.account.revokeAccessTokens(id);
  const notice = revokedCount ? 'Access revoked.' : 'Nothing to revoke.';

  return apiKeyPage(request, false, { notice });
}

async function changeKeys(request: UserRequest): Promise<Answer> {
  const { body, context } = request;
  const { account } = context;
  let notice: string | undefined;

  switch (textOf(body, 'action')) {
    case 'create-token':
      return createAccessToken(request);
    case 'revoke-token':
      // An invalid id must not become undefined, because that would revoke all tokens.
      return revokeAccessTokens(request, parseRowId(textOf(body, 'id')) ?? 0);
    case 'revoke-tokens':
      return revokeAccessTokens(request);
    case 'make':
      if (!(await account.findApiKey())) {
        await account.createApiKey();
        notice = 'Your API key was created.';
      }

      break;
    case 'replace':
      if (await account.replaceApiKey(textOf(body, 'replaced'))) {
        notice = 'This is your new key. The previous key no longer works.';
      }
  }

  return apiKeyPage(request, true, { notice });
}

export function addApiKeyRoutes(
  router: Router,
  parseForm: RequestHandler,
  forUsers: ForUsers,
): void {
  router.get(
    API_KEY_PAGE_PATH,
    forUsers((request) => apiKeyPage(request, false)),
  );
  router.post(API_KEY_PAGE_PATH, parseForm, forUsers(changeKeys));
  router.get(
    REPLACE_API_KEY_PATH,
    forUsers(async (request) => {
      const key = await request.context.account.findApiKey();

      return key ? replacementPage(request, key) : API_KEY_PAGE_PATH;
    }),
  );
}
