/** The API reference page. */
import { fitgraphForThisFile } from '../setup/fitgraph';
import { Visitor } from '../setup/visitor';

const fitgraph = fitgraphForThisFile();
const DOCS = '/api/v2/schema/docs';

it('shows a login link on the API reference page, or the signed-in user with a CSRF token', async () => {
  await fitgraph.user('ann');
  const visitor = new Visitor(fitgraph.url);
  const before = await visitor.get(DOCS);

  expect(before.text).toContain('<a href="/login?next=%2Fapi%2Fv2%2Fschema%2Fdocs">Sign in</a>');
  expect(before.text).not.toContain('csrf-token');
  await visitor.signIn('ann');
  const { text, headers } = await visitor.get(DOCS);

  expect(text).toContain('<a href="/user">ann</a>');
  expect(text).toMatch(/<meta name="csrf-token" content="[\w-]{60,}"/);
  expect(text).toContain('aria-label="Breadcrumbs"');
  expect(headers.get('cache-control')).toBe('private, no-store');
});

it('serves the API reference page even when the API key is invalid', async () =>
  expect(
    (await fitgraph.anonymous.withHeaders({ Authorization: 'Token none' }).send('GET', DOCS))
      .status,
  ).toBe(200));
