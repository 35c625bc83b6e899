// Compares a response with an expectation. Each difference is { at, expected, actual }; a case
// without differences passes. Numbers are compared as spelled (372 differs from 372.0), and the
// order of keys counts. Only the headers named here are compared.

const { RowIds } = require('./ids');
const { parseSpelled, Spelled } = require('./numbers');

/** Returns the differences. `context` is { base, ids }. */
function checkAnswer(answer, expected, context) {
  const problems = [];
  const differ = (at, want, got) => problems.push({ at, expected: want, actual: got });
  const { headers } = answer;

  if (answer.status !== expected.status) differ('status', expected.status, answer.status);

  if (expected.contentType && mediaType(headers) !== expected.contentType) {
    differ('content-type', expected.contentType, mediaType(headers));
  }

  if (expected.allow && methods(headers.allow) !== methods(expected.allow)) {
    differ('allow', expected.allow, headers.allow);
  }

  if (expected.vary && headers.vary !== expected.vary) differ('vary', expected.vary, headers.vary);

  if (expected.location) {
    const want = context.ids.fillText(expected.location);
    const got = headers.location && pathOf(headers.location);

    if (got !== want) differ('location', want, headers.location);
  }

  if (headers['set-cookie']) differ('set-cookie', 'none', headers['set-cookie'].join('; '));

  if (expected.body !== undefined) {
    const body = parseJson(answer.text);

    if (body === undefined) differ('body', 'JSON', answer.text.slice(0, 200));
    else compare(body, expected.body, 'body', context, differ);
    const keys = body && typeof body === 'object' ? Object.keys(body) : [];

    if (expected.keys && keys.join() !== expected.keys.join()) {
      differ('body key order', expected.keys.join(' '), keys.join(' '));
    }

    if (expected.firstKey && keys[0] !== expected.firstKey) {
      differ('body first key', expected.firstKey, keys[0]);
    }
  }

  return problems;
}

function compare(actual, expected, at, context, differ) {
  if (expected === '*') return;

  if (expected instanceof Spelled || actual instanceof Spelled) {
    if (actual?.text !== expected?.text) differ(at, expected, actual);

    return;
  }

  if (typeof expected === 'string') {
    if (!textMatches(actual, expected, context)) differ(at, expected, actual);
  } else if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return differ(at, expected, actual);
    if (actual.length !== expected.length) differ(`${at}.length`, expected.length, actual.length);
    const shared = Math.min(actual.length, expected.length);

    for (let i = 0; i < shared; i++) {
      compare(actual[i], expected[i], `${at}[${i}]`, context, differ);
    }
  } else if (expected !== null && typeof expected === 'object') {
    if (actual === null || typeof actual !== 'object' || Array.isArray(actual)) {
      return differ(at, expected, actual);
    }

    const order = (value, other) =>
      Object.keys(value)
        .filter((key) => Object.hasOwn(other, key))
        .join(' ');

    if (order(actual, expected) !== order(expected, actual)) {
      differ(`${at} key order`, order(expected, actual), order(actual, expected));
    }

    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const path = `${at}.${key}`;

      if (!Object.hasOwn(actual, key)) differ(path, expected[key], '(missing)');
      else if (!Object.hasOwn(expected, key)) differ(path, '(no such key)', actual[key]);
      else compare(actual[key], expected[key], path, context, differ);
    }
  } else if (actual !== expected) {
    differ(at, expected, actual);
  }
}

/** Whether a text equals the expected one, which may contain placeholders; README.md lists them. */
function textMatches(actual, expected, { base, ids }) {
  const row = RowIds.parse(expected);

  if (row) return ids.matches(row, actual);
  const years = /^\{\{years:(\d{4}-\d\d-\d\d)\}\}$/.exec(expected);

  if (years) return actual === fullYearsSince(years[1]);
  if (typeof actual !== 'string') return false;
  const prefix = /^\{\{startsWith:(.*)\}\}$/s.exec(expected);

  if (prefix) return actual.startsWith(prefix[1]);
  if (expected === '{{today}}') return actual === today();
  if (expected === '{{now}}') return isNow(actual);
  const literal = ids.fillText(expected).replaceAll('{{base}}', base);

  if (!literal.includes('{{suffix}}')) return actual === literal;
  const pattern = literal.split('{{suffix}}').map(escapeRegExp).join('(_[A-Za-z0-9]+)?');

  return new RegExp(`^${pattern}$`).test(actual);
}

// Returns the current date in the time zone of the service, Europe/Berlin.
function today() {
  return new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Berlin', dateStyle: 'short' }).format(
    new Date(),
  );
}

function isNow(text) {
  const zoned = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+0[12]:00$/;

  return zoned.test(text) && Math.abs(Date.parse(text) - Date.now()) < 5 * 60_000;
}

function fullYearsSince(date) {
  const now = today();

  return (
    Number(now.slice(0, 4)) - Number(date.slice(0, 4)) - (now.slice(5) < date.slice(5) ? 1 : 0)
  );
}

function mediaType(headers) {
  return headers['content-type']?.split(';')[0].trim().toLowerCase();
}

function methods(allow) {
  return (allow ?? '')
    .split(',')
    .map((method) => method.trim())
    .filter(Boolean)
    .sort()
    .join(', ');
}

function pathOf(location) {
  return location.startsWith('/') ? location : location.replace(/^[a-z]+:\/\/[^/]+/i, '');
}

function parseJson(text) {
  try {
    return parseSpelled(text);
  } catch {
    return undefined;
  }
}

function escapeRegExp(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

module.exports = { checkAnswer };
