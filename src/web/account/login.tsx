/** Login page, and the page that explains how to get an account. */
import { PROVIDER_SIGN_IN_PATH } from './account-paths';
import { loginUrl, nextQuery, renderPage, type Visitor } from '../layout';

export interface LoginPageProps {
  visitor: Visitor;

  /** User name of a failed attempt to sign in. The password is never sent back. */
  username?: string;
  next?: string;
  csrfToken: string;

  /** Name of the provider at which people may sign in. */
  providerLabel?: string;
  errorMessage?: string;
}

export function renderLoginPage({
  visitor,
  username,
  next,
  csrfToken,
  providerLabel,
  errorMessage,
}: LoginPageProps): string {
  const errorAttributes =
    errorMessage === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': 'error' };

  return renderPage({
    title: errorMessage === undefined ? 'Sign in' : 'Error: Sign in',
    visitor,
    crumbs: [{ label: 'Sign in' }],
    children: (
      <>
        <h1>Sign in</h1>
        <form method="post" action="/login" class="fields">
          {errorMessage !== undefined && (
            <p class="alert" role="alert" id="error">
              {errorMessage}
            </p>
          )}
          <input type="hidden" name="csrfToken" value={csrfToken} />
          {next !== undefined && <input type="hidden" name="next" value={next} />}
          <div>
            <label for="username">User name</label>
            <input
              id="username"
              name="username"
              value={username}
              required
              autocomplete="username"
              autocapitalize="none"
              spellcheck={false}
              {...errorAttributes}
            />
          </div>
          <div>
            <label for="password">Password</label>
            <input
              id="password"
              name="password"
              type="password"
              required
              autocomplete="current-password"
              {...errorAttributes}
            />
          </div>
          <div>
            <button>Sign in</button>
          </div>
        </form>
        {providerLabel !== undefined && (
          <p>
            <a class="button plain" href={PROVIDER_SIGN_IN_PATH + nextQuery(next)}>
              Sign in with {providerLabel}
            </a>
          </p>
        )}
        <p>
          No account? See <a href="/register">how to get one</a>.
        </p>
      </>
    ),
  });
}

/** There is no self-registration: operators create accounts on the command line. */
export function renderRegisterPage(visitor: Visitor): string {
  return renderPage({
    title: 'Getting an account',
    visitor,
    crumbs: [{ label: 'Getting an account' }],
    children: (
      <>
        <h1>Getting an account</h1>
        <p>
          This server has no self-registration. Ask its operator for an account, then{' '}
          <a href={loginUrl(visitor.returnUrl)}>sign in</a>.
        </p>
        <h2 id="operators">For operators</h2>
        <p>
          Run this command with the environment of the server; in a checkout,{' '}
          <code>npm run fitgraph --</code> replaces <code>fitgraph</code>. It prompts for the
          password:
        </p>
        <pre tabindex={0} aria-labelledby="operators">
          <code>fitgraph user create &lt;name&gt;</code>
        </pre>
        <p>
          The command prints the API key of the new account.{' '}
          <code>fitgraph user password &lt;name&gt;</code> changes the password and ends all
          sessions of the account; <code>fitgraph user deactivate &lt;name&gt;</code> deactivates
          it.
        </p>
      </>
    ),
  });
}
