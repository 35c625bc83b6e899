/** The OpenAPI document describes every endpoint, and the endpoints respond as described. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { allEntities, resourceOf } from '../../../src/engine/declare/registry';
import { toSnakeCase } from '../../../src/shared/casing';
import type { OpenApiDocument } from '../../../src/rest/openapi/document';
import { Visitor } from '../../setup/visitor';
import {
  createOwnedRows,
  ownedTypes,
  parentsIn,
  UNKNOWN,
  type OwnedRowIds,
} from '../../setup/owned-rows';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import type { Answer, Person } from '../../setup/person';
import { bodyOf } from '../../setup/sample-values';
import { Conformance } from '../conformance';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let ownedRowIds: OwnedRowIds;
let document: OpenApiDocument;
let conformance: Conformance;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  ownedRowIds = await createOwnedRows(ann);
  document = (await fitgraph.anonymous.get('/schema')).body as OpenApiDocument;
  conformance = new Conformance(document);
});

const operations = () =>
  Object.entries(document.paths).flatMap(([address, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]) => ({
        address,
        method,
        operation: operation as Record<string, any>,
      })),
  );

/** Returns the id of a row that Ann can read, for a path with an id. */
function idFor(address: string): number {
  const name = address.split('/')[1]!;
  const entity = allEntities().find((candidate) =>
    resourceOf(candidate)!.metadata.views.some(({ restName }) => restName === name),
  )!;

  return ownedRowIds.get(entity) ?? 1;
}

test('returns a document that an OpenAPI validator accepts', () => {
  const file = path.join(
    fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-openapi-')),
    'openapi.json',
  );

  fs.writeFileSync(file, JSON.stringify(document));
  const validator = path.join(
    path.dirname(require.resolve('@seriousme/openapi-schema-validator/package.json')),
    'bin/validate-api-cli.js',
  );

  try {
    expect(
      JSON.parse(execFileSync(process.execPath, [validator, file], { encoding: 'utf8' })),
    ).toEqual({ valid: true });
  } finally {
    fs.rmSync(path.dirname(file), { recursive: true });
  }
});

test.each([
  ['workoutlog', ['rir']],
  ['weightentry', []],
  ['workoutsession', ['notes', 'time_start', 'time_end']],
])('describes only nullable fields of a row as nullable: %s', async (name, nullable) => {
  const { body } = await ann.get(`/${name}/`);
  const [row] = body.results as Record<string, unknown>[];
  const accepted = Object.keys(row!).filter((key) => {
    const changed = { ...body, results: [{ ...row, [key]: null }] };

    return conformance.problems('get', `/${name}/`, 200, changed).length === 0;
  });

  expect(accepted.sort()).toEqual([...nullable].sort());
});

test('describes the list and the detail path of every resource in the root', async () => {
  const names = Object.keys((await ann.get('/')).body as object);

  expect(names.length).toBeGreaterThanOrEqual(28);

  for (const name of names) {
    expect(document.paths[`/${name}/`]).toHaveProperty('get');
    expect(document.paths[`/${name}/{id}/`]).toHaveProperty('get');
  }
});

/**
 * Returns the success status of an operation and the names of the schemas of its response and its
 * request body.
 */
const schemasOf = (address: string, method: string) => {
  const operation = document.paths[address]![method] as {
    requestBody?: { content: object };
    responses: Record<string, { content?: object }>;
  };
  // Takes the first media type, because resources with files accept only forms and others have the
  // same schema for all media types.
  const nameOf = (content: object = {}) =>
    (Object.values(content) as { schema: { $ref?: string } }[])[0]?.schema.$ref?.replace(
      '#/components/schemas/',
      '',
    );
  const [success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))!;

  return [
    success,
    nameOf(operation.responses[success]!.content),
    nameOf(operation.requestBody?.content),
  ];
};

test('describes the schemas of every view, and writes only for resources with the mutation', () => {
  for (const entity of allEntities()) {
    const {
      views,
      createMutationName: createMutationName,
      updateMutationName: updateMutationName,
      deleteMutationName: deleteMutationName,
    } = resourceOf(entity)!.metadata;

    views.forEach(({ restName, routes }, index) => {
      const [list, detail] = [`/${restName}/`, `/${restName}/{id}/`];

      expect([schemasOf(list, 'get'), schemasOf(detail, 'get')]).toEqual([
        ['200', `${restName}.page`, undefined],
        ['200', restName, undefined],
      ]);
      const page = document.components.schemas[`${restName}.page`] as {
        properties: { results: { items: object } };
      };

      expect(page.properties.results.items).toEqual({ $ref: `#/components/schemas/${restName}` });
      expect(
        Object.keys((document.components.schemas[restName] as { properties: object }).properties),
      ).toContain('id');
      const writes = [
        [list, 'post', createMutationName, ['201', restName, `${restName}.body`]],
        [detail, 'put', updateMutationName, ['200', restName, `${restName}.body`]],
        [detail, 'patch', updateMutationName, ['200', restName, `${restName}.change`]],
        [detail, 'delete', deleteMutationName, ['204', undefined, undefined]],
      ] as const;

      for (const [address, method, mutation, schemas] of writes) {
        // Curators write the catalogue over GraphQL only.
        const isPossible = index === 0 && mutation !== undefined && routes === 'all';
        const isDescribed = method in document.paths[address]!;

        // A view may omit POST although there is a mutation.
        expect({
          address,
          method,
          isPossible: isPossible && (isDescribed || method !== 'post'),
        }).toEqual({ address, method, isPossible });
        expect(isDescribed && !isPossible).toBe(false);
        if (isDescribed) expect(schemasOf(address, method)).toEqual(schemas);
      }
    });
  }

  expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/', '/login/']));
});

test('gives every operation a unique operationId and every parameter a description', () => {
  const ids = operations().map(({ operation }) => operation.operationId as string);

  expect(new Set(ids).size).toBe(ids.length);
  const parameters = operations().flatMap(
    ({ operation }) => (operation.parameters ?? []) as Record<string, unknown>[],
  );

  expect(parameters.filter(({ $ref, description }) => !$ref && !description)).toEqual([]);
});

test('describes authentication by a token, or by a session that needs a CSRF token for changes', async () => {
  const visitor = new Visitor(fitgraph.url);

  await visitor.signIn('ann');
  const { token, session, csrf } = document.components.securitySchemes as Record<
    string,
    { in: string; name: string }
  >;

  expect([token!.in, session!.in, csrf!.in]).toEqual(['header', 'cookie', 'header']);
  expect([...visitor.cookies.keys()]).toEqual([session!.name]);

  for (const { method, operation } of operations()) {
    const ways = (operation.security as object[]).map((way) => Object.keys(way));
    const safe = ['get', 'options'].includes(method);

    expect(ways.slice(-2)).toEqual([['token'], safe ? ['session'] : ['session', 'csrf']]);
  }

  // The server requires what the document describes.
  const body = { date: '2022-02-02', weight: '80.00' };

  expect((await visitor.json('POST', '/api/v2/weightentry/', body)).status).toBe(403);
  expect(
    (
      await visitor.json('POST', '/api/v2/weightentry/', body, {
        [csrf!.name]: await visitor.csrfToken(),
      })
    ).status,
  ).toBe(201);
});

test('describes Idempotency-Key and its conflicts for every change', async () => {
  const named = operations().filter(({ operation }) =>
    JSON.stringify(operation.parameters ?? []).includes('/idempotencyKey"'),
  );
  const changing = operations().filter(
    ({ address, method }) => !['get', 'options'].includes(method) && address !== '/login/',
  );

  expect(named).toEqual(changing);

  for (const { operation } of named) {
    for (const status of ['409', '422']) expect(operation.responses).toHaveProperty(status);
  }

  const { idempotencyKey } = document.components.parameters as Record<
    string,
    { in: string; name: string }
  >;
  const once = ann.withHeaders({ [idempotencyKey!.name]: 'one' });
  const first = await once.post('/workout/', { comment: 'once' });

  expect((await once.post('/workout/', { comment: 'once' })).body).toEqual(first.body);
});

test('describes the session cookie with the prefix __Host- when the public URL is HTTPS', async () => {
  const secure = await Fitgraph.start({
    environment: { PUBLIC_URL: 'https://fit.example' },
    sameDatabaseAs: fitgraph,
  });

  try {
    const { components } = (await secure.anonymous.get('/schema')).body as OpenApiDocument;
    const visitor = new Visitor(secure.url);

    await visitor.signIn('ann');
    expect([...visitor.cookies.keys()]).toEqual([
      (components.securitySchemes as Record<string, { name: string }>).session!.name,
    ]);
    expect([...visitor.cookies.keys()]).toEqual(['__Host-fitgraph']);
  } finally {
    await secure.stop();
  }
});

test('describes only methods that the endpoints allow', async () => {
  for (const [address, methods] of Object.entries(document.paths)) {
    const { headers } = await ann.options(address.replace('{id}', '1'));
    const describedMethods = Object.keys(methods).filter((key) => key !== 'parameters');
    const allowed = headers.get('allow')!.toLowerCase().split(', ');

    expect({
      address,
      beyond: describedMethods.filter((method) => !allowed.includes(method)),
    }).toEqual({ address, beyond: [] });
  }
});

test('describes the responses to all reads', async () => {
  const wrong: string[] = [];

  for (const { address, method } of operations()) {
    if (method !== 'get' && method !== 'options') continue;

    for (const id of address.includes('{id}') ? [idFor(address), UNKNOWN] : [0]) {
      const { status, body } = await ann.send(
        method.toUpperCase(),
        `/api/v2${address.replace('{id}', String(id))}`,
      );

      wrong.push(...conformance.problems(method, address, status, body));
      if (status >= 500) wrong.push(`${method} ${address} ${status}`);
    }
  }

  expect(wrong).toEqual([]);
});

test('describes the responses to rejected requests', async () => {
  const answers: [string, string, Promise<Answer>][] = [];

  for (const { address, method, operation } of operations()) {
    const real = `/api/v2${address.replace('{id}', String(UNKNOWN))}`;
    const sendRequest = (person: Person, body?: unknown) =>
      answers.push([method, address, person.send(method.toUpperCase(), real, body)]);

    if (method === 'get') sendRequest(ann.withHeaders({ Accept: 'text/csv' }));

    if (!operation.security.some((way: object) => Object.keys(way).length === 0)) {
      sendRequest(fitgraph.anonymous);
    }

    if (method === 'post') {
      sendRequest(ann, []);
      sendRequest(ann, '{');
      sendRequest(ann.withHeaders({ 'Content-Type': 'text/plain' }), 'text');
    }
  }

  const wrong: string[] = [];

  for (const [method, address, answer] of answers) {
    const { status, body } = await answer;

    expect(status).toBeGreaterThanOrEqual(400);
    wrong.push(...conformance.problems(method, address, status, body));
  }

  expect(wrong).toEqual([]);
});

/** Owned types whose rows can be created over REST. */
const creatableTypes = ownedTypes().filter(
  (entity) =>
    resourceOf(entity)!.metadata.createMutationName &&
    resourceOf(entity)!.metadata.views.length > 0,
);

test.each(creatableTypes.map((entity) => [entity.name, entity] as const))(
  'describes the bodies and responses of writes of %s',
  async (_name, entity) => {
    const [view] = resourceOf(entity)!.metadata.views;
    const [list, detail] = [`/${view!.restName}/`, `/${view!.restName}/{id}/`];
    const sent = bodyOf(entity, 2, parentsIn(ownedRowIds));

    expect(conformance.violations(`${view!.restName}.body`, asJson(sent))).toEqual([]);
    const created = await ann.post(list, sent);

    expect(created.status).toBe(201);
    expect(conformance.problems('post', list, 201, created.body)).toEqual([]);
    const at = detail.replace('{id}', created.body.id);

    for (const method of ['PUT', 'PATCH']) {
      const { status, body } = await ann.send(method, `/api/v2${at}`, method === 'PUT' ? sent : {});

      expect(status).toBe(200);
      expect(conformance.problems(method, detail, status, body)).toEqual([]);
    }

    expect((await ann.delete(at)).status).toBe(204);
  },
);

describe('the pattern of a decimal with 5 digits, 2 of them decimal places', () => {
  const pattern = () => {
    const { properties } = document.components.schemas['weightentry.body'] as {
      properties: { weight: { pattern: string } };
    };

    return new RegExp(properties.weight.pattern);
  };

  test.each(['80', '080', '+80', '80.5', '80.50', '599.99'])(
    'matches %j, which the API accepts',
    async (weight) => {
      expect(weight).toMatch(pattern());
      const { status, body } = await ann.post('/weightentry/', { date: '2020-01-01', weight });

      expect(status).toBe(201);
      await ann.delete(`/weightentry/${body.id}/`);
    },
  );

  test('matches negative numbers, which only the minimum excludes', async () => {
    expect('-80.5').toMatch(pattern());
    const { body } = await ann.post('/weightentry/', { date: '2020-01-01', weight: '-80.5' });

    expect(body).toEqual({ weight: ['Ensure this value is greater than or equal to 30.'] });
  });

  test.each(['', '80.500', '1080', '8,5', '80x5', 'x80', '80x', '--80', '-', '0x50'])(
    'does not match %j, which the API rejects',
    async (weight) => {
      expect(weight).not.toMatch(pattern());
      expect((await ann.post('/weightentry/', { date: '2020-01-01', weight })).status).toBe(400);
    },
  );
});

/** Converts a body to what its JSON text contains. */
const asJson = (body: object): unknown => JSON.parse(JSON.stringify(body));

describe('the OpenAPI document', () => {
  test('is returned as JSON and as YAML with the same content', async () => {
    const { anonymous } = fitgraph;
    const json = [
      anonymous.get('/schema'),
      anonymous.get('/schema/'),
      anonymous.get('/schema.json'),
      anonymous.get('/schema?format=json'),
    ];
    const yaml = [
      ...['application/yaml', 'text/yaml'].map((type) =>
        anonymous.withHeaders({ Accept: type }).get('/schema'),
      ),
      ...['/schema.yaml', '/schema?format=yaml', '/schema/?format=yaml'].map((way) =>
        anonymous.get(way),
      ),
    ];

    const readTexts = async (answers: Promise<Answer>[], type: RegExp) => {
      const all = await Promise.all(answers);

      for (const { status, headers } of all) {
        expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(type)]);
      }

      return [...new Set(all.map(({ text }) => text))];
    };

    const written = [
      ...(await readTexts(json, /^application\/json/)),
      ...(await readTexts(yaml, /^application\/yaml/)),
    ];

    expect(written.map((text) => parse(text) as unknown)).toEqual([document, document]);
  });

  test('has the URL that the client uses as the server', async () => {
    expect(document.servers).toEqual([{ url: `${fitgraph.url}/api/v2` }]);
  });

  test('is readable from every origin, with any request header', async () => {
    const headers = {
      Origin: 'https://tools.example',
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'authorization',
    };
    const preflight = await fitgraph.anonymous.withHeaders(headers).options('/schema.json');

    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
      200,
      '*',
    ]);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization');
    expect((await ann.get('/schema.json')).headers.get('access-control-allow-origin')).toBe('*');
  });

  test('is shown as a page to browsers, unless the URL names a format', async () => {
    const browser = fitgraph.anonymous.withHeaders({
      Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    });
    const opened = await browser.get('/schema');

    expect([opened.status, opened.headers.get('location'), opened.headers.get('vary')]).toEqual([
      303,
      '/api/v2/schema/docs',
      'Accept',
    ]);
    expect((await browser.get('/schema/docs')).headers.get('content-type')).toBe(
      'text/html; charset=utf-8',
    );

    for (const path of ['/schema.json', '/schema?format=json']) {
      expect((await browser.get(path)).headers.get('content-type')).toMatch(/^application\/json/);
    }

    expect(
      (
        await fitgraph.anonymous
          .withHeaders({ Accept: 'application/json, text/html' })
          .get('/schema')
      ).status,
    ).toBe(200);
  });

  test('is not returned in other formats, for other methods or at similar paths', async () => {
    const { anonymous } = fitgraph;

    expect(await anonymous.withHeaders({ Accept: 'text/csv' }).get('/schema')).toMatchObject({
      status: 406,
      body: { detail: expect.any(String) },
    });
    expect((await anonymous.get('/schema?format=xml')).status).toBe(404);
    expect((await anonymous.post('/schema', {})).status).toBe(405);
    expect((await anonymous.get('/schema/unknown')).status).toBe(404);
    expect((await anonymous.get('/schemata/')).status).toBe(404);
    expect((await anonymous.head('/schema')).status).toBe(200);
  });
});

test('describes JSON as the only media type of responses', async () => {
  const { paths, components } = (await fitgraph.anonymous.get('/schema')).body;
  const types = (responses: object) =>
    Object.values(responses).flatMap(({ content }) => Object.keys(content ?? {}));
  const operations = Object.values<Record<string, any>>(paths).flatMap((path) =>
    Object.values(path).filter(({ responses }) => responses),
  );

  expect(operations.length).toBeGreaterThan(100);
  const all = [
    ...operations.flatMap(({ responses }) => types(responses)),
    ...types(components.responses),
  ];

  expect(new Set(all)).toEqual(new Set(['application/json']));
});

test('returns a reference page that loads only local, immutable assets', async () => {
  const { status, headers, text } = await fitgraph.anonymous.get('/schema/docs');

  expect(status).toBe(200);
  const policy = headers.get('content-security-policy')!;

  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  const assets = [...text.matchAll(/(?:src|href)="(\/[^"]*\/assets\/[^"]*)"/g)].map(
    ([, address]) => address!,
  );

  expect(assets).toHaveLength(4);

  for (const address of assets) {
    const asset = await fitgraph.anonymous.send('GET', address);

    expect(asset.status).toBe(200);
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(asset.headers.get('content-type')).toMatch(
      address.endsWith('.css') ? /^text\/css/ : /javascript/,
    );
  }
});

test('derives the document without naming resources in its source code', () => {
  const folder = path.join(__dirname, '../../../src/rest');
  const files = fs
    .readdirSync(path.join(folder, 'openapi'))
    .map((file) => path.join('openapi', file));
  const names = allEntities().flatMap((entity) => [
    toSnakeCase(entity.name),
    ...resourceOf(entity)!.metadata.views.map(({ restName }) => restName),
  ]);

  for (const file of files) {
    const text = fs.readFileSync(path.join(folder, file), 'utf8');

    expect(
      names.filter((name) => text.includes(`'${name}'`) || text.includes(`/${name}/`)),
    ).toEqual([]);
  }
});
