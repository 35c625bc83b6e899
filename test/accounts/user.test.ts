/** updateUser: users may change their names and e-mail address, but nothing else of the account. */
import { fitgraphForThisFile } from '../setup/fitgraph';
import { Person } from '../setup/person';

const fitgraph = fitgraphForThisFile();

const UPDATE = `mutation ($input: UserPatch!, $ifVersion: String) { made: updateUser(input: $input, ifVersion: $ifVersion) {
  user { firstName lastName email name version } errors { path code message conflict { ... on User { version } } } } }`;

test('updates the given fields of a user, keeps omitted ones and checks the version', async () => {
  const ann = await fitgraph.user('ann');
  const { made } = await ann.ask(UPDATE, { input: { firstName: 'Ann', email: 'ann@example.com' } });

  expect(made).toMatchObject({
    user: { firstName: 'Ann', lastName: '', email: 'ann@example.com', name: 'Ann' },
    errors: [],
  });
  const secondUpdate = (
    await ann.ask(UPDATE, { input: { lastName: 'Lee' }, ifVersion: made.user.version })
  ).made;

  expect(secondUpdate.user).toMatchObject({
    firstName: 'Ann',
    lastName: 'Lee',
    email: 'ann@example.com',
    name: 'Ann Lee',
  });
  const late = (await ann.ask(UPDATE, { input: { lastName: 'Li' }, ifVersion: made.user.version }))
    .made;

  expect(late).toMatchObject({
    user: null,
    errors: [
      {
        path: ['ifVersion'],
        code: 'CONFLICT',
        conflict: { version: secondUpdate.user.version },
      },
    ],
  });
  expect((await ann.ask('{ viewer { lastName } }')).viewer.lastName).toBe('Lee');
});

test.each([
  ['an invalid e-mail address', { email: 'ann' }, 'email', 'Enter a valid e-mail address.'],
  [
    'an e-mail address without a top-level domain',
    { email: 'ann@example' },
    'email',
    'Enter a valid e-mail address.',
  ],
  [
    'an e-mail address that is too long',
    { email: `${'a'.repeat(250)}@a.de` },
    'email',
    'Ensure this field has no more than 254 characters.',
  ],
  [
    'a name that is too long',
    { firstName: 'n'.repeat(151) },
    'firstName',
    'Ensure this field has no more than 150 characters.',
  ],
])('rejects %s at its field', async (_what, input, field, message) => {
  const { made } = await (await fitgraph.user('bob')).ask(UPDATE, { input });

  expect(made).toMatchObject({ user: null, errors: [{ path: ['input', field], message }] });
});

test('accepts an empty e-mail address', async () => {
  const cid = await fitgraph.user('cid');

  await cid.ask(UPDATE, { input: { email: 'cid@example.com' } });
  expect((await cid.ask(UPDATE, { input: { email: '' } })).made).toMatchObject({
    user: { email: '' },
    errors: [],
  });
});

test('rejects changes of username, permissions or password, and anonymous clients', async () => {
  const ann = await fitgraph.user('ann');

  for (const input of [
    { username: 'root' },
    { isSuperuser: true },
    { isActive: false },
    { password: 'x' },
  ]) {
    expect((await ann.query(UPDATE, { input })).code).toBe('BAD_USER_INPUT');
  }

  expect((await fitgraph.anonymous.query(UPDATE, { input: { firstName: 'x' } })).code).toBe(
    'UNAUTHENTICATED',
  );
});

test('rejects an access token without the scope for accounts', async () => {
  const ann = await fitgraph.user('ann');
  const { made } = await ann.ask(
    'mutation { made: createAccessToken(name: "log", scopes: [READ, WRITE_TRAINING]) { token } }',
  );
  const app = new Person(fitgraph.url, { id: ann.id, token: made.token });

  expect((await app.query(UPDATE, { input: { email: 'mallory@example.com' } })).code).toBe(
    'FORBIDDEN',
  );
});
