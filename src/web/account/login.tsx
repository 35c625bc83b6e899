/** Login page, and the page that explains how to get an account. */
import { PROVIDER_SIGN_IN_PATH } from './account-paths';
import { Field } from './fields';
import { loginUrl, nextQuery, renderPage, type Visitor } from '../layout';

interface LoginPageProps {
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
          <Field
            name="username"
            label="User name"
            value={username}
            required
            autocomplete="username"
            autocapitalize="none"
            spellcheck={false}
            {...errorAttributes}
          />
          <Field
            name="password"
            label="Password"
            type="password"
            required
            autocomplete="current-password"
            {...errorAttributes}
          />
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
          This command prompts for a password and prints the API key of the new account. The guide{' '}
          <a href="/docs/administration">Administration</a> has more.
        </p>
        <pre tabindex={0} aria-labelledby="operators">
          <code>fitgraph user create &lt;name&gt;</code>
        </pre>
      </>
    ),
  });
}
