/** Answers of the servers: their status, text and headers, statements, and whether they are equal. */
import { isDeepStrictEqual } from 'node:util';
import { nextOf } from './measure.mjs';
import { NAMES } from './servers.mjs';
import { BASE } from './service.mjs';

/** Sends a request and returns status, text and headers. Links have the address of Fitgraph. */
export async function answerOf({ port }, { path, method, headers, body }) {
  const base = `http://127.0.0.1:${port}`;
  const response = await fetch(base + path, {
    method,
    headers: { ...headers, 'accept-encoding': 'identity' },
    body,
  });
  const text = (await response.text()).replaceAll(base, BASE);

  return { status: response.status, text, headers: response.headers };
}

/** Adds `If-None-Match` with the current ETag to the request of a row. */
export async function makeConditional(row, server) {
  const { headers } = await answerOf(server, row.fitgraph);

  row.fitgraph = {
    ...row.fitgraph,
    headers: { ...row.fitgraph.headers, 'if-none-match': headers.get('etag') },
  };
}

/** Counts the statements of a repeated request. */
export async function countStatements(row, server) {
  await answerOf(server, nextOf(row.fitgraph));
  const { headers } = await answerOf(server, nextOf(row.fitgraph));

  return Number(/desc="(\d+)/.exec(headers.get('server-timing'))?.[1] ?? 0);
}

/** The servers that answer a row, each with its request. */
export const requestsOf = ({ fitgraph, handWritten, postgraphile }, servers) =>
  Object.entries({ fitgraph, handWritten, postgraphile }).filter(
    ([who, request]) => request && servers[who],
  );

/** The parts of two answers from the first difference of their texts on. */
function excerpts(...answers) {
  const [one, other] = answers.map(({ text }) => text);
  const difference = [...one].findIndex((character, index) => character !== other[index]);
  const start = Math.max(0, difference - 40);

  return answers.map(({ status, text }) => `${status} ${text.slice(start, start + 200)}`);
}

/** Throws an error unless all servers answer the same. Returns the sizes of the answers in bytes. */
export async function compareAnswers(row, servers) {
  const { comparable = (text) => text, toSameShape } = row;
  const answers = {};

  for (const [who, request] of requestsOf(row, servers)) {
    answers[who] = await answerOf(servers[who], nextOf(request));
  }

  const { fitgraph: ours, handWritten, postgraphile } = answers;

  const fail = (who, theirs) => {
    throw new Error(`${who} answers ${excerpts(theirs, ours).join('\n  and Fitgraph ')}`);
  };

  if (row.isConditional) {
    if (ours.status !== 304) fail('Fitgraph', ours);
  } else if (ours.status >= 300 || /"errors":\[\{/.test(ours.text)) {
    fail('Fitgraph', ours);
  } else if (handWritten && comparable(ours.text) !== comparable(handWritten.text)) {
    fail(NAMES.handWritten, handWritten);
  }

  if (
    postgraphile &&
    !isDeepStrictEqual(toSameShape(JSON.parse(postgraphile.text)), JSON.parse(ours.text))
  ) {
    fail(NAMES.postgraphile, postgraphile);
  }

  return Object.fromEntries(
    Object.entries(answers).map(([who, { text }]) => [who, Buffer.byteLength(text)]),
  );
}
