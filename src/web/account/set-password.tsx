/** Page on which a user sets a password by a link of one use. */
import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Router } from 'express';
import { MIN_PASSWORD_LENGTH } from '../../accounts/accounts';
import { SET_PASSWORD_PATH } from '../../accounts/password-links';
import type { RequestContext } from '../../request/request-context';
import { sendPage, textParameter } from '../html-response';
import { renderPage, type Visitor } from '../layout';
import { PAGE_HEADERS } from '../security-headers';

const renderSetPasswordPage = (visitor: Visitor, token: string) =>
  renderPage({
    title: 'Set your password',
    visitor,
    crumbs: [{ label: 'Set your password' }],
    children: (
      <>
        <h1>Set your password</h1>
        <p>All browsers are signed out, and all tokens become invalid.</p>
        <form method="post" action={`${SET_PASSWORD_PATH}?token=${token}`} class="fields">
          <div>
            <label for="password">New password</label>
            <input
              id="password"
              name="password"
              type="password"
              required
              minlength={MIN_PASSWORD_LENGTH}
              autocomplete="new-password"
            />
            <p class="help">At least {MIN_PASSWORD_LENGTH} characters, not only digits.</p>
          </div>
          <div>
            <button>Set password</button>
          </div>
        </form>
      </>
    ),
  });

/** The token in the link, which no other site knows, is also the protection against CSRF. */
export function addSetPasswordRoutes(
  router: Router,
  parseForm: RequestHandler,
  contextOf: (request: IncomingMessage) => RequestContext,
): void {
  router.get(SET_PASSWORD_PATH, (request, response) => {
    const { basePath } = contextOf(request).request;
    const token = textParameter(request.query, 'token') ?? '';

    sendPage(response, 200, renderSetPasswordPage({ basePath }, encodeURIComponent(token)));
  });

  router.post(SET_PASSWORD_PATH, parseForm, async (request, response) => {
    const token = textParameter(request.query, 'token') ?? '';
    const password = textParameter(request.body, 'password') ?? '';

    // Trims the password, as the sign-in does.
    await contextOf(request).account.setPasswordByLink(token, password.trim());
    response.set(PAGE_HEADERS).redirect(303, '/login');
  });
}
