/** Audits of the GraphQL over HTTP specification, https://graphql.github.io/graphql-over-http/. */
import { auditServer } from 'graphql-http';
import { Visitor } from '../setup/visitor';
import { Fitgraph } from '../setup/fitgraph';

async function runAudits(
  environment: Record<string, string>,
): Promise<{ count: string; failed: string[] }> {
  const fitgraph = await Fitgraph.start({ environment });

  try {
    const results = await auditServer({ url: `${fitgraph.url}/graphql` });
    const failed = results.filter(({ status }) => status !== 'ok').map(({ name }) => name);
    const count = `${results.length - failed.length}/${results.length}`;

    process.stdout.write(`graphql-http audits, ${JSON.stringify(environment)}: ${count}\n`);
    return { count, failed };
  } finally {
    await fitgraph.stop();
  }
}

test('passes every graphql-http audit with GRAPHQL_CSRF=off', async () => {
  expect(await runAudits({ GRAPHQL_CSRF: 'off' })).toEqual({ count: '61/61', failed: [] });
});

test('fails by default only the three audits of GET requests that other sites could send', async () => {
  expect(await runAudits({})).toEqual({
    count: '58/61',
    failed: [
      'MAY accept application/x-www-form-urlencoded formatted GET requests',
      'MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/graphql-response+json',
      'MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/json',
    ],
  });
});

describe('with GRAPHQL_CSRF=off', () => {
  let fitgraph: Fitgraph;

  beforeAll(async () => {
    fitgraph = await Fitgraph.start({ environment: { GRAPHQL_CSRF: 'off' } });
    await fitgraph.user('ann');
  });
  afterAll(() => fitgraph.stop());

  const MUTATION = 'mutation { deleteWeightEntry(id: 1) { errors { code } } }';
  const operations = JSON.stringify({ query: MUTATION });

  const multipart = () => {
    const form = new FormData();

    form.set('operations', operations);
    form.set('map', '{}');
    return form;
  };

  test('rejects mutations of a browser session without its CSRF token', async () => {
    const visitor = new Visitor(fitgraph.url);

    await visitor.signIn('ann');
    const csrf = { 'X-CSRFToken': await visitor.csrfToken() };
    const rejected = [
      await visitor.json('POST', '/graphql', { query: MUTATION }),
      await visitor.send('POST', '/graphql', multipart()),
    ];

    for (const { status, text } of rejected) {
      expect([status, JSON.parse(text).errors[0].extensions.code]).toEqual([403, 'FORBIDDEN']);
    }

    const accepted = [
      await visitor.json('POST', '/graphql', { query: MUTATION }, csrf),
      await visitor.send('POST', '/graphql', multipart(), csrf),
    ];

    for (const { status, text } of accepted) {
      expect([status, JSON.parse(text).data.deleteWeightEntry.errors]).toEqual([
        200,
        [{ code: 'NOT_FOUND' }],
      ]);
    }
  });

  test('allows queries but no mutations by GET in a browser session', async () => {
    const visitor = new Visitor(fitgraph.url);

    await visitor.signIn('ann');
    const get = (query: string) => visitor.get(`/graphql?query=${encodeURIComponent(query)}`);

    expect(JSON.parse((await get('{ viewer { name } }')).text)).toEqual({
      data: { viewer: { name: 'ann' } },
    });
    expect((await get(MUTATION)).status).toBe(405);
  });
});

test('returns request errors in the media type that the client accepts', async () => {
  const fitgraph = await Fitgraph.start();

  try {
    const type = async (Accept: string, body: string) => {
      const answer = await fitgraph.anonymous
        .withHeaders({ Accept })
        .send('POST', '/graphql', body);

      return [
        answer.status,
        answer.headers.get('content-type'),
        answer.body.errors[0].extensions.code,
      ];
    };

    const [old, current] = [
      'application/json; charset=utf-8',
      'application/graphql-response+json; charset=utf-8',
    ];

    expect(await type('application/graphql-response+json', '{ broken')).toEqual([
      400,
      current,
      'BAD_REQUEST',
    ]);
    expect(await type('*/*', '{ broken')).toEqual([400, old, 'BAD_REQUEST']);

    for (const accept of [
      'application/graphql-response+json; charset=utf-8',
      'application/graphql-response+json;charset=utf-8;q=0.9, application/json; charset=utf-8; q=0.5',
      'text/html, application/graphql-response+json ; a="b"',
    ]) {
      expect(await type(accept, '{"query":"{ nothing }"}')).toEqual([
        400,
        current,
        'GRAPHQL_VALIDATION_FAILED',
      ]);
    }

    expect(await type('application/json; charset=utf-8', '{"query":"{ nothing }"}')).toEqual([
      200,
      old,
      'GRAPHQL_VALIDATION_FAILED',
    ]);
    expect(await type('application/graphql-response+json', '{"query":"{ nothing }"}')).toEqual([
      400,
      current,
      'GRAPHQL_VALIDATION_FAILED',
    ]);
    expect(await type('application/json', '{"query":"{ nothing }"}')).toEqual([
      200,
      old,
      'GRAPHQL_VALIDATION_FAILED',
    ]);
    const variables = JSON.stringify({
      query: 'query ($id: ID!) { exercise(id: $id) { id } }',
      variables: {},
    });

    expect(await type('application/graphql-response+json', variables)).toEqual([
      400,
      current,
      'BAD_USER_INPUT',
    ]);
    expect(await type('application/json', variables)).toEqual([200, old, 'BAD_USER_INPUT']);
    const batch = JSON.stringify([{ query: '{ __typename }' }]);

    expect(await type('application/json', batch)).toEqual([400, old, 'BAD_REQUEST']);
  } finally {
    await fitgraph.stop();
  }
});
