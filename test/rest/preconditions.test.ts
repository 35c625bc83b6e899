/**
 * Conditional requests: the version of a row as its ETag, `If-Match` for changes and
 * `If-None-Match` for reads.
 */
import { fieldsOf, type Entity } from '../../src/engine/declare/fields';
import { resourceOf } from '../../src/engine/declare/registry';
import { createOwnedRows, ownedTypes, parentsIn, type OwnedRowIds } from '../setup/owned-rows';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Answer, Person } from '../setup/person';
import { bodyOf } from '../setup/sample-values';
import { growth, LINEAR } from '../setup/waits';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let ownedRowIds: OwnedRowIds;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  ownedRowIds = await createOwnedRows(ann);
});

const tagOf = ({ headers }: Answer) => headers.get('etag');
const STRONG = /^"[^"]+"$/;
const REFUSED = {
  status: 412,
  body: { detail: 'The row has another version now. Nothing was written; read it again.' },
};

const types = ownedTypes().map((entity): [string, Entity] => [
  resourceOf(entity)!.metadata.views[0]!.restName,
  entity,
]);

let day = 0;

async function entry(): Promise<{ path: string; tag: string; body: any }> {
  day += 1;
  const answer = await ann.post('/weightentry/', {
    date: new Date(Date.UTC(2010, 0, day)).toISOString().slice(0, 10),
    weight: '80',
  });

  expect(answer.status).toBe(201);
  return { path: `/weightentry/${answer.body.id}/`, tag: tagOf(answer)!, body: answer.body };
}

const withHeaders = (headers: Record<string, string>) => ann.withHeaders(headers);
const ifMatch = (tag: string) => withHeaders({ 'If-Match': tag });

describe.each(types)('a row of %s', (rest, entity) => {
  const { metadata } = resourceOf(entity)!;
  const path = () => `/${rest}/${ownedRowIds.get(entity)}/`;

  test('has a strong ETag, which is not part of its body', async () => {
    const got = await ann.get(path());

    expect(tagOf(got)).toMatch(STRONG);
    expect(tagOf(await ann.head(path()))).toBe(tagOf(got));
    expect(tagOf(await ann.get(path()))).toBe(tagOf(got));
    expect(Object.keys(got.body)).toEqual(
      fieldsOf(entity)
        .filter(({ hiddenInRest, exclusiveTo }) => !hiddenInRest && exclusiveTo !== 'graphql')
        .map(({ restKey: restKey }) => restKey),
    );
    expect(tagOf(await ann.get(`/${rest}/`))).toBeNull();
    expect(tagOf(await ann.options(path()))).toBeNull();
  });

  test('gets a new ETag with a change and rejects changes with the former one', async () => {
    const body = metadata.createMutationName
      ? bodyOf(entity, 2, parentsIn(ownedRowIds))
      : { height: 175 };
    const before = tagOf(await ann.get(path()))!;
    const changed = await ifMatch(before).patch(path(), body);

    expect(changed.status).toBe(200);
    expect(tagOf(changed)).toMatch(STRONG);
    expect(tagOf(changed)).not.toBe(before);
    const after = await ann.get(path());

    expect([tagOf(after), after.text]).toEqual([tagOf(changed), changed.text]);
    expect(await ifMatch(before).patch(path(), body)).toMatchObject(REFUSED);

    if (metadata.deleteMutationName) {
      expect(await ifMatch(before).put(path(), body)).toMatchObject(REFUSED);
      expect(await ifMatch(before).delete(path())).toMatchObject(REFUSED);
    }

    expect(tagOf(await ann.get(path()))).toBe(tagOf(after));
  });
});

test('returns the same ETag when a row is created and when it is read', async () => {
  const { path, tag, body } = await entry();
  const got = await ann.get(path);

  expect([tagOf(got), got.body]).toEqual([tag, body]);
});

test('stores or links every field in the body of an owned row, so that its version covers them', () => {
  for (const [, entity] of types) {
    for (const field of fieldsOf(entity).filter(
      ({ hiddenInRest, exclusiveTo }) => !hiddenInRest && exclusiveTo !== 'graphql',
    )) {
      expect([field.name, field.isColumn || field.link !== undefined]).toEqual([field.name, true]);
    }
  }
});

describe('If-Match', () => {
  test.each([
    ['*', () => '*'],
    ['the current ETag', (tag: string) => tag],
    ['the current ETag among others', (tag: string) => `"a", ${tag} ,"b"`],
    ['the current ETag among weak ones', (tag: string) => `W/"a",${tag},W/"b"`],
  ])('allows changes with %s', async (_what, header) => {
    const { path, tag } = await entry();
    const patched = await ifMatch(header(tag)).patch(path, { weight: '81' });

    expect(patched.status).toBe(200);
    expect(
      (await ifMatch(header(tagOf(patched)!)).put(path, { date: patched.body.date, weight: '82' }))
        .status,
    ).toBe(200);
    expect((await ifMatch(header(tagOf(await ann.get(path))!)).delete(path)).status).toBe(204);
  });

  test.each([
    ['another ETag', () => '"a"'],
    ['several other ETags', () => '"a", "b"'],
    ['the current ETag as a weak one', (tag: string) => `W/${tag}`],
    ['weak ETags only', (tag: string) => `W/${tag}, W/"a"`],
    ['an empty ETag', () => '""'],
    ['a long ETag', () => `"${'a'.repeat(4000)}"`],
  ])('rejects changes with %s and writes nothing', async (_what, header) => {
    const { path, tag, body } = await entry();

    expect(await ifMatch(header(tag)).patch(path, { weight: '81' })).toMatchObject(REFUSED);
    expect(await ifMatch(header(tag)).put(path, { date: body.date, weight: '82' })).toMatchObject(
      REFUSED,
    );
    expect(await ifMatch(header(tag)).delete(path)).toMatchObject(REFUSED);
    const got = await ann.get(path);

    expect([tagOf(got), got.body]).toEqual([tag, body]);
  });

  test.each([
    ['the current ETag without quotes', (tag: string) => tag.slice(1, -1)],
    ['an empty header', () => ''],
    ['a malformed list', () => ',,"'],
    ['an ETag without its last quote', (tag: string) => tag.slice(0, -1)],
    ['two ETags without a comma', (tag: string) => `${tag}"a"`],
    ['every version and an ETag', (tag: string) => `*, ${tag}`],
  ])('returns 400 for %s and writes nothing', async (_what, header) => {
    const { path, tag, body } = await entry();
    const malformed = {
      status: 400,
      body: { detail: 'The header If-Match must be * or a list of entity tags in quotes.' },
    };

    expect(await ifMatch(header(tag)).patch(path, { weight: '81' })).toMatchObject(malformed);
    expect(await ifMatch(header(tag)).delete(path)).toMatchObject(malformed);
    expect((await ann.get(path)).body).toEqual(body);
  });

  test('is read in linear time', async () => {
    const read = async (share: number) => {
      const { path } = await entry();

      for (const text of ['"",', '" ', '"" ']) {
        const header = `${text.repeat((12_000 * share) / text.length)}x`;

        expect((await ifMatch(header).patch(path, { weight: '81' })).status).toBe(400);
      }
    };

    expect(await growth(read)).toBeLessThan(LINEAR);
  });

  test('returns 404 for a missing row and 400 for an invalid body instead of 412', async () => {
    for (const tag of ['*', '"a"']) {
      expect((await ifMatch(tag).patch('/weightentry/2000000000/', { weight: '81' })).status).toBe(
        404,
      );
      expect((await ifMatch(tag).delete('/weightentry/2000000000/')).status).toBe(404);
    }

    const { path } = await entry();

    expect((await ifMatch('"a"').patch(path, { weight: 'x' })).status).toBe(400);
  });

  test('returns 404 for a row of another user, even with its current ETag', async () => {
    const { path, tag } = await entry();
    const bob = (await fitgraph.user('bob')).withHeaders({ 'If-Match': tag });

    expect((await bob.patch(path, { weight: '81' })).status).toBe(404);
    expect((await bob.delete(path)).status).toBe(404);
  });

  test('lets exactly one of several parallel changes succeed', async () => {
    const { path, tag } = await entry();
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((number) => ifMatch(tag).patch(path, { weight: `${60 + number}` })),
    );

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412]);
    expect((await ann.get(path)).body).toEqual(answers.find(({ status }) => status === 200)!.body);
  });

  test('keeps a 412, and a response with its ETag, for a repeated Idempotency-Key', async () => {
    const { path, tag } = await entry();
    const patchWithKey = (key: string, match: string) =>
      withHeaders({ 'Idempotency-Key': key, 'If-Match': match }).patch(path, { weight: '81' });

    expect(await patchWithKey('k1', '"a"')).toMatchObject(REFUSED);
    expect(await patchWithKey('k1', '"a"')).toMatchObject(REFUSED);
    const first = await patchWithKey('k2', tag);
    const repeated = await patchWithKey('k2', tag);

    expect([repeated.status, tagOf(repeated), repeated.text]).toEqual([
      200,
      tagOf(first),
      first.text,
    ]);
  });

  test('makes a request another one, for which an Idempotency-Key cannot be used again', async () => {
    const { path, tag } = await entry();
    const patchIfMatch = (match: string) =>
      withHeaders({ 'Idempotency-Key': 'k3', 'If-Match': match }).patch(path, { weight: '81' });

    expect(await patchIfMatch('"a"')).toMatchObject(REFUSED);
    expect((await patchIfMatch(tag)).status).toBe(422);
    expect((await ann.patch(path, {})).body.weight).not.toBe('81.00');
  });
});

describe('If-None-Match', () => {
  test.each([
    ['the current ETag', (tag: string) => tag],
    ['the current ETag as a weak one', (tag: string) => `W/${tag}`],
    ['the current ETag among others', (tag: string) => `"a", ${tag}`],
    ['*', () => '*'],
  ])('returns 304 without a body for %s', async (_what, header) => {
    const { path, tag } = await entry();

    for (const answer of [
      await withHeaders({ 'If-None-Match': header(tag) }).get(path),
      await withHeaders({ 'If-None-Match': header(tag) }).head(path),
    ]) {
      expect([answer.status, answer.text, tagOf(answer)]).toEqual([304, '', tag]);
      expect(answer.headers.get('content-type')).toBeNull();
      expect(answer.headers.get('vary')).toContain('Accept');
    }
  });

  test('returns the row for another ETag', async () => {
    const { path, tag, body } = await entry();

    await ann.patch(path, { weight: '81' });

    for (const header of [tag, '"a"', 'x', '']) {
      expect(await withHeaders({ 'If-None-Match': header }).get(path)).toMatchObject({
        status: 200,
        body: { ...body, weight: '81.00' },
      });
    }
  });

  test('has no effect on a change', async () => {
    const { path, tag } = await entry();

    expect((await withHeaders({ 'If-None-Match': tag }).patch(path, { weight: '81' })).status).toBe(
      200,
    );
  });
});

test('returns no ETag for HTML and indented JSON, and the same ETag for .json', async () => {
  const { path, tag } = await entry();

  for (const [headers, url] of [
    [{ Accept: 'text/html' }, path],
    [{ Accept: 'application/json; indent=2' }, path],
    [{}, `${path}?format=json&indent=4`],
  ] as [Record<string, string>, string][]) {
    const answer = await withHeaders({ ...headers, 'If-None-Match': tag }).get(url);

    expect([answer.status, tagOf(answer)]).toEqual([200, null]);
  }

  expect(tagOf(await ann.get(`${path.slice(0, -1)}.json`))).toBe(tag);
});

test('returns no ETag for views of several rows and for public rows requested with a token', async () => {
  const plan = ownedRowIds.get(types.find(([rest]) => rest === 'nutritionplan')![1]);

  for (const path of [
    `/nutritionplaninfo/${plan}/`,
    `/nutritionplan/${plan}/nutritional_values/`,
    '/exercise/1/',
    '/exerciseinfo/1/',
  ]) {
    const answer = await withHeaders({ 'If-None-Match': '*' }).get(path);

    expect([answer.status, tagOf(answer)]).toEqual([200, null]);
  }
});

test('exposes ETag and X-Request-Id to cross-origin clients', async () => {
  const { path } = await entry();

  expect(
    (await withHeaders({ Origin: 'https://example.org' }).get(path)).headers.get(
      'access-control-expose-headers',
    ),
  ).toBe(
    'Content-Disposition, ETag, RateLimit, RateLimit-Policy, Retry-After, X-Estimated-Cost, X-Request-Id',
  );
  expect((await ann.get(path)).headers.get('access-control-expose-headers')).toBeNull();
});

test('reads a row with two statements and adds one to a change for If-Match', async () => {
  const { path, tag } = await entry();

  expect((await ann.get(path)).statements).toBe(2);
  const plain = await ann.patch(path, { weight: '81' });

  expect((await ifMatch(tagOf(plain)!).patch(path, { weight: '82' })).statements).toBe(
    plain.statements + 1,
  );
  expect(tag).not.toBe(tagOf(plain));
});
