/** Login page: a form for user name and password. */
import { renderPage } from './layout';

export interface LoginPageProps {
  /** User name of a failed sign-in attempt. The password is never sent back. */
  username?: string;
  next?: string;
  csrfToken: string;
  errorMessage?: string;
}

export function renderLoginPage({
  username,
  next,
  csrfToken,
  errorMessage,
}: LoginPageProps): string {
  const errorAttributes =
    errorMessage === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': 'error' };
  return renderPage({
    title: errorMessage === undefined ? 'Sign in' : 'Error: Sign in',
    visitor: {},
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
        <p>
          No account? See <a href="/register">how to get one</a>.
        </p>
      </>
    ),
  });
}
