/** Page on which a user sets a password by a link of one use. */
import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Router } from 'express';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../accounts/accounts';
import { SET_PASSWORD_PATH } from '../../accounts/password-links';
import type { RequestContext } from '../../request/request-context';
import { redirect, sendPage, sendRejection, textOf, textParameter } from '../html-response';
import { Errors, Field } from './fields';
import { renderPage, type Visitor } from '../layout';

const renderSetPasswordPage = (visitor: Visitor, token: string, errorMessage?: string) =>
  renderPage({
    title: 'Set your password',
    visitor,
    crumbs: [{ label: 'Set your password' }],
    children: (
      <>
        <h1>Set your password</h1>
        {errorMessage !== undefined && <Errors messages={[errorMessage]} />}
        <p>
          All browsers are signed out, all tokens become invalid, and other sign-ins are
          disconnected.
        </p>
        <form
          method="post"
          action={`${SET_PASSWORD_PATH}?token=${encodeURIComponent(token)}`}
          class="fields"
        >
          <Field
            name="password"
            label="New password"
            help={`At least ${MIN_PASSWORD_LENGTH} characters, not only digits.`}
            type="password"
            required
            minlength={MIN_PASSWORD_LENGTH}
            maxlength={MAX_PASSWORD_LENGTH}
            autocomplete="new-password"
          />
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
  const readToken = ({ query }: Request) => textParameter(query, 'token') ?? '';

  router.get(SET_PASSWORD_PATH, (request, response) => {
    const { basePath } = contextOf(request).request;

    sendPage(response, 200, renderSetPasswordPage({ basePath }, readToken(request)));
  });

  router.post(SET_PASSWORD_PATH, parseForm, async (request, response) => {
    const { account, request: requestInfo } = contextOf(request);
    const { basePath } = requestInfo;
    const token = readToken(request);

    try {
      await account.setPasswordByLink(token, textOf(request.body, 'password'));
    } catch (error) {
      return sendRejection(error, response, (message) =>
        renderSetPasswordPage({ basePath }, token, message),
      );
    }

    redirect(response, '/login');
  });
}
