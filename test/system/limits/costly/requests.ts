/**
 * Draws requests of all interfaces that are likely to be costly for the server, and sends them as
 * clients of many networks and several users.
 */
import type { GraphQLSchema } from 'graphql';
import { API_BASE_PATH } from '../../../../src/rest/routes';
import { Documents as MixedDocuments } from '../../graphql/fuzz/documents';
import { randomFor, type Random } from '../../../setup/random';
import { endpoints, filterKeys, searches, textKeys, writable } from '../../../setup/rest-endpoints';
import { Documents, type Draft } from './documents';
import type { CostlyUser } from './server';
import {
  frameOf,
  framesOf,
  PING_FRAME,
  sendHttp,
  sendWebSocket,
  type Answer,
  type HttpRequest,
} from './raw-client';

export interface DrawnRequest {
  kind: string;

  /** The request, for the message of a failure. */
  text: string;
  send(): Promise<Answer>;
}

const JSON_TYPE = 'application/json';
const CHARSETS = [
  'utf-8',
  'utf-8',
  'utf-16',
  'utf-16le',
  'utf-32',
  'iso-8859-1',
  'shift_jis',
  'gb18030',
  'big5',
  'euc-kr',
  'wrong',
];
const LIMITS = ['1', '100', '1000', '99999', '-1', 'x', '2147483647'];
const OFFSETS = ['0', '1', '1000', '100000', '9999999999'];
const VALUES = [
  '1',
  '2',
  'a',
  'true',
  '2026-01-01',
  '',
  '1,2,3',
  '%',
  Array.from({ length: 400 }, (_, index) => index).join(),
];
const ORDERINGS = ['id', '-id', 'name', '-date', 'relevance', 'id,name,date,user,exercise,workout'];
const PIECE_BYTES = [1, 2, 7, 64, 513, 1_400, 16_384, 1 << 20];

/** Client addresses: each request of an anonymous client comes from another network. */
const networkOf = (index: number) =>
  `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

/**
 * Factors of page sizes that are tried until the estimated cost of a document is below the maximum.
 */
const FACTORS = [1, 0.3, 0.1, 0.03, 0.01, 0.001];

export class CostlyRequests {
  private readonly kinds: readonly (readonly [
    weight: number,
    draw: (this: void, random: Random, index: number) => Promise<DrawnRequest>,
  ])[];

  constructor(
    private readonly base: string,
    private readonly schema: GraphQLSchema,
    private readonly users: readonly CostlyUser[],
  ) {
    this.kinds = [
      [46, this.query],
      [6, this.mutation],
      [3, this.mixedDocument],
      [5, this.export],
      [2, this.dryRun],
      [4, this.validation],
      [3, this.eventStream],
      [6, this.webSocket],
      [14, this.restRead],
      [6, this.restWrite],
      [5, this.body],
    ];
  }

  /**
   * Draws the request with this number. Requests are independent of each other, so that each can be
   * repeated alone.
   */
  async draw(index: number): Promise<DrawnRequest> {
    const random = randomFor(`costly request ${index}`);
    let place = random.next() * this.kinds.reduce((sum, [weight]) => sum + weight, 0);
    const [, draw] = this.kinds.find(([weight]) => (place -= weight) < 0)!;

    return draw(random, index);
  }

  private readonly query = async (random: Random, index: number): Promise<DrawnRequest> => {
    const user = this.user(random, 0.8);
    const draft = this.documents(random, user).query();
    const query = await this.affordableText(draft, user, index);

    return this.graphql('query', { query }, user, random, index);
  };

  private readonly mutation = async (random: Random, index: number): Promise<DrawnRequest> => {
    const user = this.user(random, 1);
    const query = await this.affordableText(this.documents(random, user).mutation(), user, index);

    return this.graphql('mutation', { query }, user, random, index);
  };

  private readonly mixedDocument = async (random: Random, index: number): Promise<DrawnRequest> => {
    const { text, operationName, variables } = new MixedDocuments(this.schema, random).next();

    return this.graphql(
      'mixed',
      { query: text, operationName, variables },
      this.user(random, 0.8),
      random,
      index,
    );
  };

  private readonly validation = async (random: Random, index: number): Promise<DrawnRequest> => {
    const user = this.user(random, 0.3);

    return this.graphql(
      'validation',
      { query: this.documents(random, user).validation() },
      user,
      random,
      index,
    );
  };

  private readonly dryRun = async (random: Random, index: number): Promise<DrawnRequest> => {
    const user = this.user(random, 0.8);
    const query = this.documents(random, user).query().textFor(1);

    return this.graphql('dry run', { query, extensions: { dryRun: true } }, user, random, index);
  };

  /** Exports may take minutes. Their clients leave. */
  private readonly export = async (random: Random, index: number): Promise<DrawnRequest> => {
    const user = this.user(random, 0.8);
    const query = this.documents(random, user).list().textFor(1);
    const path = `/graphql/export.${random.pick(['csv', 'jsonl'])}?query=${encodeURIComponent(query)}`;
    const request = { method: 'GET', path, headers: this.headers(user, index) };
    const leaveAfterMs = random.int(1, 1_000);

    return {
      kind: 'export',
      text: `GET ${path.split('?')[0]}, left after ${leaveAfterMs} ms\n${query}`,
      send: () => sendHttp(this.base, request, leaveAfterMs),
    };
  };

  private readonly eventStream = async (random: Random, index: number): Promise<DrawnRequest> => {
    const user = this.user(random, 0.8);
    const documents = this.documents(random, user);
    const draft = random.chance(0.7)
      ? documents.subscription(this.cursorOf(user))
      : documents.query();
    const query = await this.affordableText(draft, user, index);
    const headers = {
      ...this.headers(user, index),
      Accept: 'text/event-stream',
      'Content-Type': JSON_TYPE,
    };
    const request = {
      method: 'POST',
      path: '/graphql',
      headers,
      body: Buffer.from(JSON.stringify({ query })),
    };
    const leaveAfterMs = random.int(100, 1_000);

    return {
      kind: 'event stream',
      text: `POST /graphql as text/event-stream, left after ${leaveAfterMs} ms\n${query}`,
      send: () => sendHttp(this.base, request, leaveAfterMs),
    };
  };

  private readonly webSocket = async (random: Random, index: number): Promise<DrawnRequest> => {
    const user = this.user(random, 0.8);
    const documents = this.documents(random, user);
    const messages: string[] = [];
    const count = random.pick([1, 2, 5, 15, 40]);
    const draftCount = Math.min(count, 5);
    const queries: string[] = [];

    for (let number = 0; number < draftCount; number += 1) {
      const draft = random.chance(0.5)
        ? documents.subscription(this.cursorOf(user))
        : documents.query();

      queries.push(
        random.chance(0.2) ? documents.validation() : await this.affordableText(draft, user, index),
      );
    }

    for (let id = 0; id < count; id += 1) {
      messages.push(
        JSON.stringify({
          id: String(id),
          type: 'subscribe',
          payload: { query: queries[id % draftCount] },
        }),
      );
    }

    const frameBytes = random.pick([1_000_000, 50_000, 2_000, 100]);
    const pings = random.pick([0, 0, 3, 300]);
    const frames = messages.flatMap((message) => framesOf(message, frameBytes));

    for (let ping = 0; ping < pings; ping += 1) {
      frames.splice(
        random.below(frames.length),
        0,
        frameOf(PING_FRAME, true, Buffer.alloc(random.pick([0, 125]))),
      );
    }

    const session = {
      headers: this.headers(user, index),
      frames,
      pieceBytes: random.pick(PIECE_BYTES.slice(2)),
    };
    const leaveAfterMs = random.int(200, 1_500);

    return {
      kind: 'WebSocket',
      text: `${count} messages in ${frames.length} frames of ${frameBytes} bytes, pieces of ${session.pieceBytes}, left after ${leaveAfterMs} ms\n${queries.join('\n')}`,
      send: () => sendWebSocket(this.base, session, leaveAfterMs),
    };
  };

  private readonly restRead = async (random: Random, index: number): Promise<DrawnRequest> => {
    const user = this.user(random, 0.8);
    const endpoint = random.pick(endpoints);
    const parameters = new URLSearchParams();

    if (random.chance(0.8)) parameters.set('limit', random.pick(LIMITS));
    if (random.chance(0.2)) parameters.set('offset', random.pick(OFFSETS));
    if (random.chance(0.2)) parameters.set('ordering', random.pick(ORDERINGS));
    const filters = filterKeys(endpoint);

    if (filters.length > 0 && random.chance(0.3)) {
      for (const filter of random.some(filters, 3)) {
        parameters.append(random.chance(0.3) ? `${filter}__in` : filter, random.pick(VALUES));
      }
    }

    const ids = user?.ids.get(endpoint.type.name);
    const actions = [...endpoint.actions.keys()];
    let path = `${API_BASE_PATH}/${endpoint.view.restName}/`;

    if (ids?.length && random.chance(0.4)) path += `${random.pick(ids)}/`;

    if (ids?.length && actions.length > 0 && random.chance(0.8)) {
      path = `${API_BASE_PATH}/${endpoint.view.restName}/${random.pick(ids)}/${random.pick(actions)}/`;
    }

    if (searches.length > 0 && random.chance(0.05)) {
      path = `${API_BASE_PATH}/${random.pick(searches)}/`;
      parameters.set(
        'term',
        random.pick(['chiken brest', 'a', 'squat press '.repeat(20), 'ä'.repeat(300)]),
      );
    }

    const accept = random.pick([
      'application/json',
      'application/json; indent=8',
      'text/html',
      '*/*',
    ]);
    const encoding = random.pick(['identity', 'gzip', 'br', 'deflate']);
    const headers = { ...this.headers(user, index), Accept: accept, 'Accept-Encoding': encoding };
    const method = random.chance(0.05) ? 'OPTIONS' : 'GET';
    const target = `${path}?${parameters.toString()}`;

    return this.http(
      'REST read',
      { method, path: target, headers },
      `${method} ${target} as ${accept}, ${encoding}`,
      random,
    );
  };

  private readonly restWrite = async (random: Random, index: number): Promise<DrawnRequest> => {
    const user = this.user(random, 0.9);
    const endpoint = random.pick(writable);
    const keys = endpoint.fields
      .filter(({ restReadOnly }) => !restReadOnly)
      .map(({ restKey }) => restKey);
    const texts = textKeys(endpoint).map(({ restKey }) => restKey);
    const values = Object.fromEntries(
      keys.map((key) => [
        key,
        texts.includes(key)
          ? random.pick(['a', 'ä'.repeat(9_000), ''])
          : nestedJson(random, random.int(0, 4)),
      ]),
    );

    return this.bodyOf(
      'REST write',
      `${API_BASE_PATH}/${endpoint.view.restName}/`,
      values,
      user,
      random,
      index,
    );
  };

  private readonly body = async (random: Random, index: number): Promise<DrawnRequest> => {
    const path = random.pick([
      '/graphql',
      `${API_BASE_PATH}/login/`,
      `${API_BASE_PATH}/workout/`,
      '/graphql/stream',
      '/nowhere',
    ]);
    const depth = random.pick([1, 3, 50, 5_000]);
    const value = random.chance(0.5)
      ? {
          query: '{ __typename }',
          variables: nestedJson(random, random.int(1, 6)),
          username: 'a',
          password: 'b'.repeat(random.int(1, 100_000)),
        }
      : `${'['.repeat(depth)}${']'.repeat(depth)}`;

    return this.bodyOf('body', path, value, this.user(random, 0.7), random, index);
  };

  private bodyOf(
    kind: string,
    path: string,
    value: unknown,
    user: CostlyUser | undefined,
    random: Random,
    index: number,
  ): DrawnRequest {
    const { type, body } = encode(value, random);
    const charset = random.chance(0.4) ? `; charset=${random.pick(CHARSETS)}` : '';
    const padding = random.chance(0.2)
      ? Buffer.alloc(random.pick([10_000, 200_000, 1_500_000]), ' ')
      : Buffer.alloc(0);
    const headers = {
      ...this.headers(user, index),
      'Content-Type': `${type}${charset}`,
      'Apollo-Require-Preflight': '1',
    };
    const content = Buffer.concat([body, padding]);
    // Bodies of millions of one-byte chunks take the test longer than the server.
    const pieceBytes =
      content.length > 300_000 ? random.pick(PIECE_BYTES.slice(4)) : random.pick(PIECE_BYTES);
    const request = {
      method: 'POST',
      path,
      headers,
      body: content,
      pieceBytes,
      isChunked: random.chance(0.5),
    };
    const framing = `${request.isChunked ? 'chunks' : 'pieces'} of ${pieceBytes} bytes`;

    return this.http(
      kind,
      request,
      `POST ${path} ${type}${charset}, ${content.length} bytes in ${framing}\n${body.subarray(0, 300).toString()}`,
      random,
    );
  }

  private graphql(
    kind: string,
    payload: Record<string, unknown> & { query: string },
    user: CostlyUser | undefined,
    random: Random,
    index: number,
  ): DrawnRequest {
    const encoding = random.pick(['identity', 'gzip', 'br']);
    const headers = {
      ...this.headers(user, index),
      'Content-Type': JSON_TYPE,
      'Accept-Encoding': encoding,
    };
    const request = {
      method: 'POST',
      path: '/graphql',
      headers,
      body: Buffer.from(JSON.stringify(payload)),
    };
    const { query, ...others } = payload;

    return this.http(
      kind,
      request,
      `as ${user ? 'user' : 'anonymous'}, ${encoding} ${JSON.stringify(others)}\n${query}`,
      random,
    );
  }

  /** Some clients leave at a random moment. */
  private http(kind: string, request: HttpRequest, text: string, random: Random): DrawnRequest {
    const leaveAfterMs = random.chance(0.15) ? random.int(1, 500) : undefined;
    const ending = leaveAfterMs === undefined ? '' : `, left after ${leaveAfterMs} ms`;

    return {
      kind,
      text: `${kind}${ending}: ${text}`,
      send: () => sendHttp(this.base, request, leaveAfterMs),
    };
  }

  /**
   * Returns the text with the largest pages for which the server would execute it, as an attacker
   * would find out by a dry run.
   */
  private async affordableText(
    draft: Draft,
    user: CostlyUser | undefined,
    index: number,
  ): Promise<string> {
    let text = '';

    for (const factor of FACTORS) {
      const previous = text;

      text = draft.textFor(factor);
      if (text === previous) break;
      const headers = { ...this.headers(user, index), 'Content-Type': JSON_TYPE, 'X-Dry-Run': '1' };
      const body = Buffer.from(JSON.stringify({ query: text }));
      const answer = await sendHttp(this.base, { method: 'POST', path: '/graphql', headers, body });
      const [, cost, limit] = /"cost":(\d+),"limit":(\d+)/.exec(answer.text) ?? [];

      if (cost === undefined || Number(cost) <= Number(limit)) break;
    }

    return text;
  }

  private documents(random: Random, user: CostlyUser | undefined): Documents {
    return new Documents(this.schema, random, (user ?? this.users[0]!).ids);
  }

  private user(random: Random, probability: number): CostlyUser | undefined {
    return random.chance(probability) ? random.pick(this.users) : undefined;
  }

  private cursorOf(user: CostlyUser | undefined): string {
    return (user ?? this.users[0]!).cursor;
  }

  private headers(user: CostlyUser | undefined, index: number): Record<string, string> {
    return {
      'X-Forwarded-For': networkOf(index),
      ...(user && { Authorization: `Token ${user.token}` }),
    };
  }
}

function nestedJson(random: Random, depth: number): unknown {
  if (depth === 0) return random.pick([1, 'a', null, true, '2026-01-01', 1e300, 'x'.repeat(2_000)]);
  const length = random.pick([0, 1, 3, 20, 200]) / depth;
  const items = Array.from({ length: Math.ceil(length) }, () =>
    nestedJson(random, depth > 2 ? random.below(2) : depth - 1),
  );

  return random.chance(0.5)
    ? items
    : Object.fromEntries(items.map((item, index) => [`key${index}`, item]));
}

const BOUNDARY = 'x';
const MAX_FORM_BYTES = 400_000;

/** Encodes a value as JSON, or its members as a form. Text is sent as it is. */
function encode(value: unknown, random: Random): { type: string; body: Buffer } {
  if (typeof value !== 'object' || value === null || random.chance(0.6)) {
    return {
      type: JSON_TYPE,
      body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    };
  }

  const members = Object.entries(value).map(
    ([name, member]) =>
      [name, typeof member === 'string' ? member : JSON.stringify(member)] as const,
  );
  const memberBytes = members.reduce((sum, [name, member]) => sum + name.length + member.length, 1);
  const copies = Math.ceil(Math.min(random.pick([1, 1, 20, 600]), MAX_FORM_BYTES / memberBytes));
  const repeated = Array.from({ length: copies }, () => members).flat();

  if (random.chance(0.5)) {
    return {
      type: 'application/x-www-form-urlencoded',
      body: Buffer.from(
        new URLSearchParams(repeated.map(([...pair]) => pair)).toString().slice(0, MAX_FORM_BYTES),
      ),
    };
  }

  const parts = repeated.map(
    ([name, member]) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${member}\r\n`,
  );

  return {
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    body: Buffer.from(`${parts.join('').slice(0, MAX_FORM_BYTES)}--${BOUNDARY}--\r\n`),
  };
}
