/** The API key page. */
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import { Visitor } from '../../setup/visitor';

const fitgraph = fitgraphForThisFile();
const PATH = '/user/api-key';

async function signedIn(username: string, url = fitgraph.url): Promise<Visitor> {
  await fitgraph.user(username);
  const visitor = new Visitor(url);

  await visitor.signIn(username);
  return visitor;
}

/** Returns the name of the user to whom the key belongs; undefined if it is invalid. */
const ownerOf = async (token: string): Promise<string | undefined> =>
  (
    await fitgraph.anonymous
      .withHeaders({ Authorization: `Token ${token}` })
      .query('{ viewer { username } }')
  ).data?.viewer?.username;
const displayedKey = (text: string) => /<code id="key">([0-9a-f]{40})<\/code>/.exec(text)?.[1];

it('redirects anonymous visitors to the login', async () => {
  for (const path of [PATH, `${PATH}/replace`]) {
    const { status, headers } = await new Visitor(fitgraph.url).get(path);

    expect([status, headers.get('location')]).toEqual([
      303,
      `/login?next=${encodeURIComponent(path)}`,
    ]);
  }

  expect((await new Visitor(fitgraph.url).post(PATH, { action: 'make' })).status).toBe(303);
});

it('creates a key, and keeps it when the form is sent again', async () => {
  const visitor = await signedIn('ann');
  const { id } = await fitgraph.user('ann');

  await fitgraph.sql('DELETE FROM "token" WHERE "user_id" = $1', [id]);
  expect((await visitor.get(PATH)).text).toContain('You have no API key yet.');
  const fields = await visitor.fieldsOf(PATH, /Create key/);
  const { text } = await visitor.post(PATH, fields);

  expect(text).toContain('Your API key was created.');
  const token = displayedKey(text)!;

  expect(await ownerOf(token)).toBe('ann');
  expect(text).toContain(`Authorization: Token ${token}`);
  // Sends the same form again, as a reload of the page does.
  expect(displayedKey((await visitor.post(PATH, fields)).text)).toBe(token);
});

it('masks the key until the form to show it is sent', async () => {
  const { token } = await fitgraph.user('bob');
  const visitor = await signedIn('bob');
  const { text } = await visitor.get(PATH);

  expect(text).toContain(`${token.slice(0, 4)}${'•'.repeat(36)}`);
  expect(text).not.toContain(token);
  expect(
    displayedKey((await visitor.post(PATH, await visitor.fieldsOf(PATH, /Show key/))).text),
  ).toBe(token);
});

it('replaces the key after a confirmation, and only once', async () => {
  const { token } = await fitgraph.user('carl');
  const visitor = await signedIn('carl');

  expect((await visitor.get(`${PATH}/replace`)).text).toContain('stops working immediately');
  const fields = await visitor.fieldsOf(`${PATH}/replace`, /Replace key/);
  const { text } = await visitor.post(PATH, fields);
  const renewed = displayedKey(text)!;

  expect(renewed).not.toBe(token);
  expect([await ownerOf(token), await ownerOf(renewed)]).toEqual([undefined, 'carl']);
  // Sending the form again replaces nothing, because the key that it names no longer exists.
  expect(displayedKey((await visitor.post(PATH, fields)).text)).toBe(renewed);
  expect(await ownerOf(renewed)).toBe('carl');
});

it('cannot show a key that was encrypted with another SECRET_KEY, but replaces it', async () => {
  const { token } = await fitgraph.user('dora');
  const other = await Fitgraph.start({
    environment: { SECRET_KEY: 'another secret key of the tests, long enough' },
    sameDatabaseAs: fitgraph,
  });

  try {
    const visitor = await signedIn('dora', other.url);

    expect((await visitor.get(PATH)).text).toContain('can’t show it');
    expect(await ownerOf(token)).toBe('dora');
    const { text } = await visitor.post(
      PATH,
      await visitor.fieldsOf(`${PATH}/replace`, /Replace key/),
    );

    expect(await ownerOf(displayedKey(text)!)).toBe('dora');
    expect(await ownerOf(token)).toBeUndefined();
  } finally {
    await other.stop();
  }
});

it('gives the playground the CSRF token of the session', async () => {
  const visitor = await signedIn('eve');
  const token = /<meta name="csrf-token" content="([\w-]+)"\/?>/.exec(
    (await visitor.get('/playground')).text,
  )?.[1];
  const answer = await visitor.json(
    'POST',
    '/graphql',
    { query: '{ viewer { username } }' },
    { 'X-CSRFToken': token ?? '' },
  );

  expect(JSON.parse(answer.text).data.viewer.username).toBe('eve');
  expect((await new Visitor(fitgraph.url).get('/playground')).text).not.toContain('csrf-token');
});
