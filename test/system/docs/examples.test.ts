/** Sends the examples of the README and the guides to a server. Documented responses must match. */
import fs from 'node:fs';
import path from 'node:path';
import { build, Installation, type Server } from '../../setup/server-process';

const ROOT = path.join(__dirname, '../../..');
const guides = [
  'README.md',
  ...fs.readdirSync(path.join(ROOT, 'docs')).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md'));

interface Example {
  text: string;

  /** The documented response, if any. With `like`, ids, dates and numbers may differ. */
  answer?: unknown;
  like: boolean;
}

/** Returns the fenced code blocks of a guide, each with the JSON block that follows it directly. */
function examplesOf(guide: string, language: string): Example[] {
  const text = fs.readFileSync(path.join(ROOT, guide), 'utf8');
  const fenced = new RegExp(
    `^\`\`\`${language}\\n(.*?)^\`\`\`\\n(?:\\s*\`\`\`json( like)?\\n(.*?)^\`\`\`\\n)?`,
    'gms',
  );

  return [...text.matchAll(fenced)].map(([, code, like, answer]) => ({
    text: code!,
    answer: answer === undefined ? undefined : (JSON.parse(answer) as unknown),
    like: like !== undefined,
  }));
}

const examplesIn = (language: string, is: (text: string) => boolean) =>
  guides.flatMap((guide) => {
    const examples = examplesOf(guide, language).filter(({ text }) => is(text));

    return examples.map((example, index): [string, number, Example] => [guide, index + 1, example]);
  });

/** Splits a command into words, which are either quoted by `'` or unquoted. */
const words = (command: string) =>
  [...command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|([^\s']+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare!,
  );

const SHORT: Record<string, string> = { '-H': 'header', '-d': 'data', '-X': 'method' };

/** Executes a curl command with fetch. */
function call(command: string, server: Server): Promise<Response> {
  const [, ...rest] = words(command.replaceAll('<key>', server.demo.token));
  const headers: Record<string, string> = {};
  let [address, body, method] = [
    '',
    undefined as string | undefined,
    undefined as string | undefined,
  ];

  while (rest.length) {
    const word = rest.shift()!;
    const option = SHORT[word];
    const value = option && rest.shift()!;

    if (option === 'header') {
      headers[value!.slice(0, value!.indexOf(':'))] = value!.slice(value!.indexOf(':') + 1).trim();
    } else if (option === 'data') body = value;
    else if (option === 'method') method = value;
    else if (word !== '-N') address = word;
  }

  const url = address.replace(/^(?:http:\/\/)?localhost:8000/, server.url);

  return fetch(url, { method: method ?? (body === undefined ? 'GET' : 'POST'), headers, body });
}

/** Replaces values that vary by placeholders. */
function withPlaceholders(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPlaceholders);

  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, withPlaceholders(one)]),
    );
  }

  if (typeof value === 'number') return 'a number';

  return typeof value === 'string'
    ? value.replace(/\d{4}-\d\d-\d\d/g, 'a day').replace(/^\d+\.\d+$/, 'a decimal')
    : value;
}

const installation = new Installation();
let server: Server;

beforeAll(async () => {
  build();
  server = await installation.start({ WEB_CONCURRENCY: '0' });
});
afterAll(() => installation.remove());

function expectAnswer(found: unknown, { answer, like }: Example): void {
  if (answer === undefined) return;
  const withServerUrl = JSON.parse(
    JSON.stringify(answer).replaceAll('http://localhost:8000', server.url),
  ) as unknown;

  if (like) expect(withPlaceholders(found)).toEqual(withPlaceholders(withServerUrl));
  else expect(found).toEqual(withServerUrl);
}

test.each(examplesIn('graphql', () => true))(
  '%s: GraphQL operation %i returns the documented response',
  async (_guide, _number, example) => {
    const { status, body } = await server
      .signedIn(server.demo.token)
      .send('POST', '/graphql', { query: example.text });

    expect([status, body.errors]).toEqual([200, undefined]);
    expectAnswer(body, example);
  },
);

test.each(examplesIn('sh', (text) => text.startsWith('curl ') && text.includes('localhost:8000')))(
  '%s: curl command %i returns the documented response',
  async (_guide, _number, example) => {
    const response = await call(example.text, server);

    expect(response.status).toBe(200);

    if (!response.headers.get('content-type')!.startsWith('text/event-stream')) {
      return expectAnswer(await response.json(), example);
    }

    // The first event contains the initial cursor.
    const reader = response.body!.getReader();
    let received = '';

    while (!received.includes('\n\n') || !received.includes('cursor')) {
      received += Buffer.from((await reader.read()).value!).toString();
    }

    await reader.cancel();
    expect(received).toContain('event: next');
  },
);

test('the guides contain GraphQL operations and curl commands', () => {
  expect(examplesIn('graphql', () => true).length).toBeGreaterThan(2);
  expect(examplesIn('sh', (text) => text.startsWith('curl ')).length).toBeGreaterThan(3);
});

test('pages linked from the guides exist', async () => {
  const addresses = guides.flatMap((guide) => [
    ...fs
      .readFileSync(path.join(ROOT, guide), 'utf8')
      .matchAll(/<http:\/\/localhost:8000(\/[^>]*)>/g),
  ]);

  expect(addresses.length).toBeGreaterThan(1);
  // Some pages require a signed-in user, one an anonymous client.
  const people = [server.anonymous, server.signedIn(server.demo.token)].map((person) =>
    person.withHeaders({ Accept: 'text/html' }),
  );

  for (const [, address] of addresses) {
    const answers = await Promise.all(people.map((person) => person.send('GET', address!)));

    expect([address, answers.map(({ status }) => status)]).toEqual([
      address,
      expect.arrayContaining([200]),
    ]);
  }
});
