/** Page that explains how to get an account: there is no self-registration, operators create accounts on the command line. */
import { renderPage, type Visitor } from './layout';

export function renderRegisterPage(visitor: Visitor): string {
  return renderPage({
    title: 'Getting an account',
    visitor,
    crumbs: [{ label: 'Fitgraph', href: '/' }, { label: 'Getting an account' }],
    children: (
      <>
        <h1>Getting an account</h1>
        <p>
          Registration is not possible here. Ask whoever runs this server for an account; then <a href="/login">sign in</a>.
        </p>
        <h2 id="operators">For operators</h2>
        <p>On the server, in the folder of the program, with the same environment as the server. It asks for the password:</p>
        <pre tabindex={0} aria-labelledby="operators">
          <code>npm run fitgraph -- user create &lt;name&gt;</code>
        </pre>
        <p>
          The command prints the API key of the new account. <code>user password &lt;name&gt;</code> sets another password and ends the
          sessions of the account; <code>user deactivate &lt;name&gt;</code> locks it.
        </p>
      </>
    ),
  });
}
