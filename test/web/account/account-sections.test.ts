/** Access tokens, sessions and the latest events on the key page, without a script. */
import { fitgraphForThisFile, PASSWORD } from '../../setup/fitgraph';
import { Person } from '../../setup/person';
import { Visitor } from '../../setup/visitor';

const fitgraph = fitgraphForThisFile();
const PATH = '/user/api-key';

async function signedIn(username: string): Promise<Visitor> {
  await fitgraph.user(username);
  const visitor = new Visitor(fitgraph.url);

  await visitor.signIn(username);
  return visitor;
}

/** Sends the form of a new token as a browser does when the boxes of these scopes are ticked. */
async function createToken(visitor: Visitor, name: string, scopes: string[], days = '90') {
  const fields = new URLSearchParams(await visitor.fieldsOf(PATH, /Create access token/));

  fields.set('name', name);
  for (const scope of scopes) fields.append('scope', scope);
  fields.set('days', days);
  return visitor.send('POST', PATH, fields.toString(), {
    'Content-Type': 'application/x-www-form-urlencoded',
  });
}

const tokenIn = (text: string) => /<code id="token">(fgt_[0-9a-f]{48})<\/code>/.exec(text)?.[1];
const rowsIn = (text: string) =>
  [
    ...text.matchAll(
      /<th scope="row">(.*?)<\/th><td>(.*?)<\/td><td>.*?<\/td><td>(.*?)<\/td><td>(.*?)<\/td>/g,
    ),
  ].map(([, ...cells]) => cells);
const clientWith = (token: string) =>
  new Person(fitgraph.url).withHeaders({ Authorization: `Token ${token}` });

it('creates an access token and shows it once', async () => {
  const visitor = await signedIn('ann');
  const { status, text } = await createToken(
    visitor,
    'Watch <1>',
    ['read:body', 'write:training'],
    '30',
  );

  expect(status).toBe(200);
  const token = tokenIn(text)!;
  const ends = new Date(Date.now() + 30 * 86_400_000).getTime();
  const [[name, scopes, end, used]] = rowsIn(text) as [string[]];

  expect([name, scopes, used]).toEqual(['Watch &lt;1>', 'READ_BODY, WRITE_TRAINING', 'never']);
  expect(Math.abs(Date.parse(/>(.*)</.exec(end!)![1]!) - ends)).toBeLessThan(2 * 86_400_000);
  expect((await clientWith(token).get('/weightentry/')).status).toBe(200);
  expect((await clientWith(token).get('/nutritionplan/')).status).toBe(403);
  const again = await visitor.get(PATH);

  expect(again.text).not.toContain(token);
  expect(rowsIn(again.text)).toHaveLength(1);
  expect(again.text).toContain('An access token was created.');
});

it('shows errors in the form of a new token and keeps the submitted values', async () => {
  const visitor = await signedIn('bob');
  const { status, text } = await createToken(visitor, 'Backup', [], '');

  expect([status, tokenIn(text)]).toEqual([400, undefined]);
  expect(text).toContain('Choose at least one scope.');
  expect(text).toContain('value="Backup"');
  expect((await createToken(visitor, 'Backup', ['read', 'everything'])).status).toBe(400);
  const made = await createToken(visitor, 'Backup', ['read'], '');

  expect(rowsIn(made.text)).toEqual([['Backup', 'READ', 'never', 'never']]);
  // Sends the same form again, as a reload of the page does.
  const reloaded = await createToken(visitor, 'Backup', ['read'], '');

  expect(reloaded.text).toContain('You already have an access token with this name.');
  expect(rowsIn(reloaded.text)).toHaveLength(1);
});

it('revokes one access token, and all access tokens', async () => {
  const visitor = await signedIn('carl');
  const tokens: string[] = [];

  for (const name of ['one', 'two', 'three']) {
    tokens.push(tokenIn((await createToken(visitor, name, ['read'])).text)!);
  }

  const areAccepted = () =>
    Promise.all(
      tokens.map(async (token) => (await clientWith(token).get('/weightentry/')).status === 200),
    );
  const fields = await visitor.fieldsOf(PATH, /Revoke two/);

  expect((await visitor.post(PATH, fields)).text).toContain('Access revoked.');
  expect(await areAccepted()).toEqual([true, false, true]);

  for (const id of [fields.id!, '', 'x', '-1']) {
    expect((await visitor.post(PATH, { ...fields, id })).text).toContain('Nothing to revoke.');
  }

  expect(await areAccepted()).toEqual([true, false, true]);
  await visitor.post(PATH, await visitor.fieldsOf(PATH, /Revoke all access tokens/));
  expect(await areAccepted()).toEqual([false, false, false]);
});

it('ends all sessions of the user', async () => {
  const [currentBrowser, otherBrowser] = [await signedIn('dora'), await signedIn('dora')];
  const other = await signedIn('emil');
  const ended = await currentBrowser.post(
    '/user',
    await currentBrowser.fieldsOf('/user', /End all sessions/),
  );

  expect([ended.status, ended.headers.get('location')]).toEqual([303, '/login']);
  expect(currentBrowser.cookies.has('fitgraph')).toBe(false);
  expect((await otherBrowser.get(PATH)).status).toBe(303);
  expect((await other.get(PATH)).status).toBe(200);
  expect(
    (await fitgraph.anonymous.post('/login/', { username: 'dora', password: PASSWORD })).status,
  ).toBe(200);
});

it('rejects forms without a CSRF token, and access tokens as credentials', async () => {
  const visitor = await signedIn('fred');
  const token = tokenIn((await createToken(visitor, 'one', ['write'])).text)!;

  for (const action of ['create-token', 'revoke-token', 'revoke-tokens']) {
    expect((await visitor.post(PATH, { action, name: 'x', scope: 'read' })).status).toBe(403);
  }

  const page = await clientWith(token).withHeaders({ Accept: 'text/html' }).send('GET', PATH);

  expect(page.status).toBe(403);
  expect((await clientWith(token).get('/weightentry/')).status).toBe(200);
  expect((await visitor.get(PATH)).status).toBe(200);
});
