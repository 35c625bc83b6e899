/**
 * An OpenID Connect provider in a process of its own, because its library is an ES module. It
 * receives the claims of its users, and sends its issuer URL when it listens.
 */
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const usersBySubject = new Map();
const server = createServer();

process.on('message', ({ redirectUri, subject, claims }) => {
  if (redirectUri === undefined) return void usersBySubject.set(subject, claims);
  const { port } = server.address();
  const provider = new Provider(`http://localhost:${port}`, {
    clients: [
      {
        client_id: 'fitgraph',
        client_secret: 'a secret of the client',
        redirect_uris: [redirectUri],
        // The provider permits plain HTTP in redirect URIs of native clients only.
        application_type: 'native',
      },
    ],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['preferred_username', 'groups'],
    },
    findAccount: (_context, subject) => ({
      accountId: subject,
      claims: () => ({ sub: subject, ...usersBySubject.get(subject) }),
    }),
    cookies: { keys: ['a key of the cookies'] },
  });

  server.on('request', provider.callback());
  process.send({ issuer: provider.issuer });
});

server.listen(0, 'localhost', () => process.send({ port: server.address().port }));
