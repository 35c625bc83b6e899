/** Routes of the sign-in at an OpenID Connect provider, and of its connection to an account. */
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, RequestHandler, Response, Router } from 'express';
import { type OpenIdProvider, type ProviderSignIn } from '../../accounts/openid-connect';
import { requireViewerWithoutAccessToken } from '../../engine/access/access';
import type { RequestContext } from '../../request/request-context';
import { redirect, sendPage, textParameter } from '../html-response';
import { renderPage } from '../layout';
import { ACCOUNT_PAGE_PATH, DATA_PAGE_PATH, PROVIDER_SIGN_IN_PATH } from './account-paths';

export const PROVIDER_CALLBACK_PATH = `${PROVIDER_SIGN_IN_PATH}/callback`;
const COOKIE_NAME = 'fitgraph-provider';
const STARTED_SIGN_IN_SECONDS = 10 * 60;

/** Set-Cookie header of a started sign-in. An empty value deletes the cookie. */
const startedSignInCookie = (value: string, { authentication, request }: RequestContext) =>
  stringifySetCookie(COOKIE_NAME, value, {
    httpOnly: true,
    sameSite: 'lax',
    path: request.basePath + PROVIDER_SIGN_IN_PATH,
    secure: authentication.usesSecureCookies,
    maxAge: value === '' ? 0 : STARTED_SIGN_IN_SECONDS,
  });

interface ProviderRouteOptions {
  provider: OpenIdProvider;
  parseForm: RequestHandler;
  contextOf(request: Request): RequestContext;
  authenticate(request: Request): Promise<boolean>;
  localRedirectPath(next: string | undefined): string | undefined;
}

export function addProviderRoutes(
  router: Router,
  { provider, parseForm, contextOf, authenticate, localRedirectPath }: ProviderRouteOptions,
): void {
  /** Stores the cookie and returns the URL of the provider. */
  async function beginSignIn(
    context: RequestContext,
    response: Response,
    signIn: ProviderSignIn,
  ): Promise<string> {
    const redirectUri = context.request.baseUrl + PROVIDER_CALLBACK_PATH;
    const { url, cookieValue } = await provider.begin(redirectUri, signIn);

    response.append('Set-Cookie', startedSignInCookie(cookieValue, context));
    return url;
  }

  router.get(PROVIDER_SIGN_IN_PATH, async (request, response) => {
    const next = localRedirectPath(textParameter(request.query, 'next'));
    const url = await beginSignIn(contextOf(request), response, { next });

    redirect(response, url);
  });

  // Connects the provider to the account. A page leads to the provider, because form-action of the
  // Content Security Policy also applies to redirects.
  router.post(PROVIDER_SIGN_IN_PATH, parseForm, async (request, response) => {
    await authenticate(request);
    const context = contextOf(request);
    const { id } = requireViewerWithoutAccessToken(context);
    const url = await beginSignIn(context, response, { userId: id, next: ACCOUNT_PAGE_PATH });
    const title = `Continue with ${context.services.config.oidcLabel}`;

    sendPage(
      response,
      200,
      renderPage({
        title,
        visitor: context.authentication.pageVisitor(),
        head: <meta http-equiv="refresh" content={`0;url=${url}`} />,
        children: (
          <>
            <h1>{title}</h1>
            <p>
              <a class="button" href={url}>
                Continue
              </a>
            </p>
          </>
        ),
      }),
    );
  });

  router.get(PROVIDER_CALLBACK_PATH, async (request, response) => {
    const context = contextOf(request);

    await authenticate(request);
    const cookieValue = parseCookie(request.headers.cookie ?? '')[COOKIE_NAME] ?? '';
    const { next, sessionCookie } = await context.account.completeProviderSignIn(
      new URL(context.request.baseUrl + request.url),
      cookieValue,
    );

    if (sessionCookie !== undefined) response.append('Set-Cookie', sessionCookie);
    response.append('Set-Cookie', startedSignInCookie('', context));
    redirect(response, next ?? DATA_PAGE_PATH);
  });
}
