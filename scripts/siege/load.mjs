// Generates load: requests of all kinds, from a fixed number of clients or at a fixed rate
// regardless of the responses.
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomBelow, randomFraction, pick, shuffled } from './random.mjs';
import { PASSWORD, USERS } from './service.mjs';

const REQUEST_TIMEOUT_MS = 30_000;
const TICK_MS = 5;
const CLIENTS = 16;
const NETWORKS = 200;

/** Number of written rows to keep. Beyond it, as many rows are deleted as created. */
const MAX_ROWS = 500;

const json = (headers = {}) => ({
  'content-type': 'application/json',
  accept: 'application/json',
  ...headers,
});
// prettier-ignore
const graphql = (query, variables, headers) => ({ method: 'POST', path: '/graphql', headers: json(headers), body: JSON.stringify({ query, variables }) });
const get = (path, headers) => ({
  path: `/api/v2${path}`,
  headers: { accept: 'application/json', ...headers },
});
const times = (count, make) => Array.from({ length: count }, (_, index) => make(index)).join(' ');

const PUBLIC = [
  '/exercise/?limit=20',
  '/exerciseinfo/?limit=10',
  '/ingredient/?limit=20',
  '/muscle/',
  '/exercise/search/?term=press&language=en',
].map((path) => get(path));
const PUBLIC_GRAPHQL = [
  graphql(
    '{ exercises(first: 20) { totalCount nodes { id name category { name } muscles { name } equipment { name } } } }',
  ),
  graphql(
    'query ($text: String) { ingredients(first: 10, where: { name: { contains: $text } }) { nodes { id name energy } } }',
    {
      text: 'oat',
    },
  ),
  graphql('{ categories: exerciseCategories { name exercises(first: 5) { nodes { name } } } }'),
];
const OWN = [
  '/workout/?limit=10',
  '/weightentry/?limit=20',
  '/nutritionplaninfo/?limit=5',
  '/workoutlog/?limit=20',
];
const OWN_GRAPHQL = [
  '{ workouts(first: 10) { totalCount nodes { id comment days { description } } } }',
  '{ viewer { username } weightEntries(first: 30) { nodes { date weight } } nutritionPlans { nodes { description } } }',
];

const nested = (depth) =>
  depth ? `{ category: { exercises: { none: ${nested(depth - 1)} } } }` : '{ id: { eq: "0" } }';
const levels = (depth) =>
  depth ? `exercises(first: 10000) { nodes { category { ${levels(depth - 1)} } } }` : 'name';
const wrong = Object.fromEntries(
  Array.from({ length: 10_000 }, (_, index) => [`wrong${index}`, 1]),
);
const form = (type, body) => ({
  method: 'POST',
  path: '/api/v2/login/',
  headers: json({ 'content-type': type }),
  body,
});
const PART = 'Content-Disposition: form-data; name="username"';

/** Requests that crashed or blocked a worker before there were limits. */
const FORMER_CRASHES = [
  form(
    'multipart/form-data; boundary=b',
    `--b\r\n${PART}\r\nContent-Type: text/plain; charset=utf-16\r\n\r\nann\r\n--b--\r\n`,
  ),
  form(
    'multipart/form-data; boundary=b',
    `${`--b\r\n${PART}\r\n\r\nann\r\n`.repeat(3_000)}--b--\r\n`,
  ),
  form('application/x-www-form-urlencoded', 'a=1&'.repeat(50_000)),
  form(
    'application/json',
    `{${Array.from({ length: 15_000 }, (_, index) => `"key${index}":1`).join()}}`,
  ),
  form('application/json', '['.repeat(200_000)),
  graphql(
    `{ ingredients(first: 9900) { nodes { ${times(490, (i) => `${'a'.repeat(180)}${i}: id`)} } } }`,
  ),
  graphql(
    `{ ingredients(first: 9900) { nodes { ${times(50, (i) => `${'a'.repeat(60)}${i}: id`)} } } }`,
  ),
  graphql(`{ ${times(30, (i) => `s${i}: __schema { types { name description } }`)} }`),
  graphql(`{ ... on Query { ${times(490, (i) => `wrong${i}`)} } }`),
  { path: '/health/anything', headers: { accept: 'text/html', cookie: 'fitgraph_session=none' } },
  { path: '/graphql/\\[', headers: json() },
];
const HOSTILE = [
  ...FORMER_CRASHES,
  graphql(`
    {
      viewer {
        ...F0
      }
    }
    ${times(30, (i) => `fragment F${i} on User { ...F${i + 1} ...F${i + 1} }`)}
    fragment F30 on User {
      id
    }
  `),
  graphql('query ($where: ExerciseWhere) { exercises(where: $where) { totalCount } }', {
    where: wrong,
  }),
  graphql(
    'query ($amount: Decimal!) { ingredients(first: 1) { nodes { valuesOf(amount: $amount) { energy } } } }',
    {
      amount: '1'.repeat(50_000),
    },
  ),
  graphql(`{ exercises(first: 1, where: ${nested(4)}) { totalCount } }`),
  graphql(`{ ${levels(4)} }`),
  graphql(`query { exercises(first: 1) { nodes { ${times(800, (i) => `a${i}: nodeId`)} } } }`),
  graphql(`{ ${times(60, (i) => `a${i}: __schema { types { fields { name args { name } } } }`)} }`),
  graphql(
    `mutation { ${times(400, (i) => `a${i}: login(username: "n${i}", password: "wrong") { token }`)} }`,
  ),
  graphql('{'.repeat(5_000)),
  { method: 'POST', path: '/graphql', headers: json(), body: `{"query": ${'['.repeat(50_000)}` },
  get(`/exercise/?${'id=1&'.repeat(2_000)}`),
  get(`/exercise/?ordering=${'name,'.repeat(2_000)}`),
  get('/exercise/', { 'accept-language': 'de,'.repeat(4_000) }),
];

export const isGood = ({ status }) => status >= 200 && status < 300;

const network = () => ({ 'x-forwarded-for': `10.${randomBelow(NETWORKS)}.0.1` });
const fromRandomNetwork = (request) => ({
  ...request,
  headers: { ...request.headers, ...network() },
});

export class Load {
  constructor({ base, tokens }) {
    this.agent = new http.Agent({ keepAlive: true });
    this.base = base;
    this.tokens = tokens;
    this.written = tokens.map(() => []);
    const asUser = (request) =>
      fromRandomNetwork({
        ...request,
        headers: { ...request.headers, authorization: `Token ${pick(tokens)}` },
      });

    /** Kinds of requests, each with its share in percent. */
    this.kinds = [
      ['strangers, REST', 30, () => fromRandomNetwork(pick(PUBLIC))],
      ['strangers, GraphQL', 20, () => fromRandomNetwork(pick(PUBLIC_GRAPHQL))],
      ['users, REST', 15, () => asUser(get(pick(OWN)))],
      ['users, GraphQL', 10, () => asUser(graphql(pick(OWN_GRAPHQL)))],
      ['writes', 12, () => fromRandomNetwork(this.write())],
      // prettier-ignore
      ['logins', 3, () => fromRandomNetwork({ method: 'POST', path: '/api/v2/login/', headers: json(), body: JSON.stringify({ username: pick(USERS), password: randomFraction() < 0.5 ? PASSWORD : 'wrong' }) })],
      ['hostile', 10, () => fromRandomNetwork(pick(HOSTILE))],
    ];
  }

  /** Returns a request that creates a workout or deletes one that was created. */
  write() {
    const user = randomBelow(this.tokens.length);
    const headers = json({ authorization: `Token ${this.tokens[user]}` });
    const written = this.written[user];

    if (
      written.length > MAX_ROWS / this.tokens.length ||
      (written.length && randomFraction() < 0.3)
    ) {
      return { method: 'DELETE', path: `/api/v2/workout/${written.shift()}/`, headers };
    }

    const rememberCreated = (text) => written.push(JSON.parse(text).id);

    return {
      method: 'POST',
      path: '/api/v2/workout/',
      headers,
      body: JSON.stringify({ comment: 'Siege' }),
      onCreated: rememberCreated,
    };
  }

  /** Sends one request. With `calm` it is of an ordinary kind. */
  one(mood) {
    const [kind, , make] = mood === 'calm' ? pick(this.kinds.slice(0, 4)) : this.next();

    return this.send(kind, make());
  }

  /** Returns the next kind. Every hundred requests have exactly the shares of the kinds. */
  next() {
    if (!this.coming?.length) {
      this.coming = shuffled(this.kinds.flatMap((kind) => Array(kind[1]).fill(kind)));
    }

    return this.coming.pop();
  }

  /** Sends a request. Status 0 means that there was no response. */
  send(kind, { method = 'GET', path, headers, body, onCreated }) {
    const began = performance.now();

    return new Promise((resolve) => {
      const none = () => resolve({ kind, status: 0, ms: performance.now() - began });
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const request = http.request(
        `${this.base}${path}`,
        { method, headers: { ...headers, ...length }, agent: this.agent },
        (response) => {
          const { statusCode: status, headers: responseHeaders } = response;
          const chunks = [];

          if (onCreated && status === 201) response.on('data', (chunk) => chunks.push(chunk));
          else response.resume();
          response.once('error', none);
          response.once('end', () => {
            if (chunks.length) onCreated(Buffer.concat(chunks).toString());
            resolve({
              kind,
              status,
              ms: performance.now() - began,
              retryAfter: Number(responseHeaders['retry-after'] ?? 0),
            });
          });
        },
      );

      request.setTimeout(REQUEST_TIMEOUT_MS, () => request.destroy());
      request.once('error', (error) => {
        // The service closed an idle connection when this request was sent. It was not processed,
        // so it is sent again, as any client would do.
        if (request.reusedSocket && error.code === 'ECONNRESET') {
          resolve(this.send(kind, { method, path, headers, body, onCreated }));
        } else none();
      });
      request.end(body);
    });
  }

  /** Runs a fixed number of clients, each of which waits for its response. */
  async closed(seconds) {
    const replies = [];
    const until = performance.now() + seconds * 1000;

    const client = async () => {
      while (performance.now() < until) replies.push(await this.one());
    };

    await Promise.all(Array.from({ length: CLIENTS }, client));
    return replies;
  }

  /**
   * Sends `excess` times as many requests per second as succeeded in the last second, and at least
   * `excess` times `capacity`, whether or not the others have been answered. Therefore a capacity
   * that was measured while other programs were busy does not make the load too small. `drainedMs`
   * is the time from the last request to the last response.
   */
  async open(capacity, excess, seconds) {
    const replies = [];
    const waiting = new Set();
    const began = performance.now();
    let second = { began, good: 0 };
    let done = capacity;
    let due = 0;
    let sent = 0;

    for (let last = began; last - began < seconds * 1000;) {
      await sleep(TICK_MS);
      const now = performance.now();

      due += ((now - last) / 1000) * done * excess;
      last = now;

      for (; sent < due; sent += 1) {
        const reply = this.one().then((one) => {
          waiting.delete(reply);
          replies.push(one);
          if (isGood(one)) second.good += 1;
        });

        waiting.add(reply);
      }

      if (now - second.began < 1000) continue;
      done = Math.max(capacity, (second.good * 1000) / (now - second.began));
      second = { began: now, good: 0 };
    }

    const ended = performance.now();

    await Promise.all(waiting);
    return Object.assign(replies, { drainedMs: performance.now() - ended });
  }
}
