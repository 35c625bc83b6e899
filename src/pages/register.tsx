/** Page that explains how to get an account: there is no self-registration, operators create accounts on the command line. */
import { renderPage, type Visitor } from './layout';

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
          <a href="/login">sign in</a>.
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
          sessions of the account; <code>fitgraph user deactivate &lt;name&gt;</code> locks it.
        </p>
      </>
    ),
  });
}
