/**
 * Errors that occur outside of the browsable pages but are shown by browsers, and responses without
 * data.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fitgraphForThisFile } from '../setup/fitgraph';
import { until } from '../setup/waits';
import { alertOf, Visitor } from '../setup/visitor';

const fitgraph = fitgraphForThisFile({ environment: { MAX_LAG: '100ms' } });
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const CASES = {
  rest: ['/api/v2/muscle/', BROWSER],
  landing: ['/', BROWSER],
  graphql: ['/graphql', BROWSER],
  any: ['/api/v2/muscle/', '*/*'],
  json: ['/api/v2/muscle/', 'application/json'],
  jsonFirst: ['/api/v2/muscle/', 'application/json, text/html'],
  jsonUrl: ['/api/v2/muscle/?format=json', BROWSER],
} as const;

type ShedResponses = Record<keyof typeof CASES, { headers: Headers; text: string }>;

/**
 * Blocks the event loop, which the server shares with the test, until a request of each case has
 * been shed. Returns these responses.
 */
async function shedResponses(): Promise<ShedResponses> {
  const shed: Partial<ShedResponses> = {};

  const send = async (name: keyof ShedResponses) => {
    const [path, accept] = CASES[name];
    // Otherwise, a redirect of `/graphql` that is not shed would lead to the page of another path.
    const answer = await fetch(fitgraph.url + path, {
      headers: { Accept: accept },
      redirect: 'manual',
    });
    const text = await answer.text();

    if (answer.status === 503) shed[name] = { headers: answer.headers, text };
  };

  const names = Object.keys(CASES) as (keyof ShedResponses)[];

  await until('all requests are shed', async () => {
    for (let pauses = 0; pauses < 8; pauses += 1) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
      await sleep(10);
    }

    await Promise.all(Array.from({ length: 8 }, () => names.map(send)).flat());
    return names.every((name) => shed[name]);
  });

  return shed as ShedResponses;
}

it('says when to retry on a page for browsers and in JSON for other clients, if a request is shed', async () => {
  const shed = await shedResponses();

  for (const name of ['rest', 'landing', 'graphql'] as const) {
    const { headers, text } = shed[name];

    expect([headers.get('content-type'), headers.get('retry-after')]).toEqual([
      'text/html; charset=utf-8',
      '2',
    ]);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(alertOf(text)).toBe('The server is overloaded. Try again in a moment.');
    expect(text).toContain(`Wait 2 seconds, then <a href="${CASES[name][0]}">try again</a>.`);
  }

  const json = [
    'application/json',
    '2',
    '{"detail":"The server is overloaded. Try again in a moment."}',
  ];

  for (const name of ['any', 'json', 'jsonFirst', 'jsonUrl'] as const) {
    const { headers, text } = shed[name];

    expect([name, headers.get('content-type'), headers.get('retry-after'), text]).toEqual([
      name,
      ...json,
    ]);
  }
});

it('gets a page if the database cannot store its form, and the form is stored when it is sent again', async () => {
  const ann = await fitgraph.user('ann');
  const visitor = new Visitor(fitgraph.url, { Accept: BROWSER });

  await visitor.signIn('ann');
  const path = '/api/v2/weightentry/';
  const fields = {
    ...(await visitor.fieldsOf(path, /id="wpost-/)),
    date: '2021-03-10',
    weight: '80',
  };

  await fitgraph.sql(`CREATE FUNCTION "full"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'full' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER "full" BEFORE INSERT ON "weight_entry" EXECUTE FUNCTION "full"()`);

  try {
    const { status, headers, text } = await visitor.post(path, fields);

    expect([status, headers.get('content-type'), headers.get('retry-after')]).toEqual([
      503,
      'text/html; charset=utf-8',
      '2',
    ]);
    expect(alertOf(text)).toMatch(
      /^The database cannot process this at the moment\. Nothing was changed; try again later\. \(id /,
    );
    expect(text).toContain(
      'Wait 2 seconds, then reload this page to send your input again. It is stored only once',
    );
    expect(
      (await ann.post('/weightentry/', { date: '2021-03-10', weight: '80' })).body.detail,
    ).toMatch(/^The database cannot process this/);
  } finally {
    await fitgraph.sql('DROP FUNCTION "full"() CASCADE');
  }

  await visitor.submit(path, fields);
  expect((await ann.get('/weightentry/')).body.count).toBe(1);
});

it('asks for the parameter of an action that cannot be computed without it', async () => {
  const ann = await fitgraph.user('ann');
  const { id } = (await ann.post('/workout/', { comment: 'Push' })).body;
  const { status, text } = await ann
    .withHeaders({ Accept: 'text/html' })
    .get(`/workout/${id}/log_data/`);

  expect(status).toBe(200);
  expect(alertOf(text)).toContain('Enter a value for each parameter');
  expect(text).toContain('<a href="#f-id">Id</a>: Id of the exercise.');
  expect(text).toMatch(/<details class="api"><summary>API/);
  expect((await ann.get(`/workout/${id}/log_data/`)).text).toBe(
    `"Please provide an exercise ID in the 'id' GET parameter"`,
  );
});
