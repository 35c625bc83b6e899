/**
 * Isolation of users: nobody can read, change or infer a row of another user. Covers every owned
 * type over both interfaces. The response for a foreign id must equal the response for an id that
 * does not exist.
 */
import { creatableChildFields } from '../../../src/engine/write/drafts';
import { fieldsOf, type Entity } from '../../../src/engine/declare/fields';
import { findEntity, resourceOf } from '../../../src/engine/declare/registry';
import { nodeIdOf } from '../../../src/engine/declare/node';
import {
  createOwnedRows,
  ownedParents,
  ownedTypes,
  parentsIn,
  spreadIds,
  UNKNOWN,
  type OwnedRowIds,
} from '../../setup/owned-rows';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { isListed } from '../../setup/generic-lists';
import type { Answer, Person } from '../../setup/person';
import { bodyOf, inputBelow, inputOf } from '../../setup/sample-values';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let bob: Person;
let annas: OwnedRowIds;
let bobs: OwnedRowIds;

beforeAll(async () => {
  await spreadIds(fitgraph);
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  [annas, bobs] = [await createOwnedRows(ann), await createOwnedRows(bob)];
});

/** Profiles have tests of their own: they are not listed, and updated without an id. */
const types = ownedTypes()
  .filter(isListed)
  .map((entity): [string, Entity] => [entity.name, entity]);

const restOf = (entity: Entity) =>
  resourceOf(entity)!.metadata.views.map(({ restName }) => restName);
const table = (entity: Entity) =>
  fitgraph.sql(`SELECT * FROM "${resourceOf(entity)!.table}" ORDER BY "id"`);

/** Returns the status and text of a response. */
const statusAndText = ({ status, text }: Answer) => ({ status, text });

function expectNothingOf(ownedRowIds: OwnedRowIds, { text }: Answer): void {
  for (const id of ownedRowIds.values()) expect(text).not.toContain(String(id));
}

const WRONG = 'errors { path code message }';

/**
 * Runs a mutation that must be rejected because of this id, and removes the id from its text, so
 * that responses can be compared.
 */
async function expectMissing(
  document: string,
  variables: Record<string, unknown>,
  path: string[],
  id: number,
  type: string,
): Promise<Answer> {
  const answer = await ann.query(document, variables);
  const message = `There is no ${type} with the id "${id}".`;

  expect([answer.errors, answer.data.row.errors]).toEqual([
    undefined,
    [{ path, code: 'NOT_FOUND', message }],
  ]);

  return { ...answer, text: answer.text.replace(`"${id}\\"`, '#').replace(String(id), '#') };
}

/** Sends a request for a foreign and for an unknown id. Both responses must be equal. */
async function expectUnknown(
  ask: (id: number) => Promise<Answer>,
  foreign: number,
  status: number,
): Promise<Answer> {
  const [answer, unknown] = [await ask(foreign), await ask(UNKNOWN)];

  expect(statusAndText(answer)).toEqual(statusAndText(unknown));
  expect(answer.status).toBe(status);
  return answer;
}

test('both users have a row of every owned type', () => {
  expect(types.length).toBeGreaterThanOrEqual(13);
  for (const [, entity] of types) expect(annas.get(entity)).not.toBe(bobs.get(entity));
});

describe.each(types)('%s', (_name, entity) => {
  const { singularName, pluralName, metadata } = resourceOf(entity)!;
  const foreignId = () => bobs.get(entity)!;
  const ownId = () => annas.get(entity)!;
  let before: unknown;

  beforeAll(async () => {
    before = await table(entity);
  });
  afterAll(async () => expect(await table(entity)).toEqual(before));

  const expectNoRow = async (document: string, variables: Record<string, unknown>) => {
    const answer = await ann.query(document, variables);

    expect([answer.data, answer.errors]).toEqual([{ row: null }, undefined]);
    return answer;
  };

  test('lists only rows of the viewer', async () => {
    const { text, data } = await ann.query(
      `{ rows: ${pluralName}(first: 1000) { totalCount nodes { id } edges { node { id } } } }`,
    );

    expect(data.rows).toMatchObject({
      totalCount: 1,
      nodes: [{ id: String(ownId()) }],
      edges: [{ node: { id: String(ownId()) } }],
    });
    expectNothingOf(bobs, { text } as Answer);

    for (const rest of restOf(entity)) {
      const list = await ann.get(`/${rest}/?limit=1000`);

      expect(list.body).toMatchObject({ count: 1, results: [expect.anything()] });
      expectNothingOf(bobs, list);
    }
  });

  test('does not find a foreign row by its id', async () => {
    await expectUnknown(
      (id) => expectNoRow(`query ($id: ID!) { row: ${singularName}(id: $id) { id } }`, { id }),
      foreignId(),
      200,
    );

    for (const rest of restOf(entity)) {
      await expectUnknown((id) => ann.get(`/${rest}/${id}/`), foreignId(), 404);
      await expectUnknown((id) => ann.head(`/${rest}/${id}/`), foreignId(), 404);
      await expectUnknown((id) => ann.options(`/${rest}/${id}/`), foreignId(), 200);
    }
  });

  test('does not find a foreign row by its node id', async () => {
    const ask = (id: number) =>
      expectNoRow('query ($id: ID!) { row: node(nodeId: $id) { nodeId } }', {
        id: nodeIdOf(entity.name, id),
      });

    await expectUnknown(ask, foreignId(), 200);
    const { node } = await ann.ask('query ($id: ID!) { node(nodeId: $id) { __typename nodeId } }', {
      id: nodeIdOf(entity.name, ownId()),
    });

    expect(node).toEqual({ __typename: entity.name, nodeId: nodeIdOf(entity.name, ownId()) });
  });

  test('does not find a foreign row by filters of its id or its parents', async () => {
    const document = `query ($where: ${entity.name}Where) { rows: ${pluralName}(where: $where) { totalCount nodes { id } } }`;
    const id = { name: 'id', target: () => entity };
    const named = fieldsOf(entity).filter(
      (field) => field.relation?.isOwned && !field.relation.isToMany && field.name !== 'userId',
    );

    for (const { name, target } of [id, ...named]) {
      const filtered = (condition: object) => ann.query(document, { where: { [name]: condition } });
      const empty = await expectUnknown(
        (value) => filtered({ eq: value }),
        bobs.get(target!())!,
        200,
      );

      expect(empty.body.data.rows).toEqual({ totalCount: 0, nodes: [] });
      const mine = annas.get(target!())!;

      await expectUnknown((value) => filtered({ in: [value, mine] }), bobs.get(target!())!, 200);
    }

    for (const { restName, filters } of metadata.views) {
      for (const { parameterName, field } of filters) {
        const relation = named.find(({ name }) => name === field);

        if (relation) {
          await expectUnknown(
            (value) => ann.get(`/${restName}/?${parameterName ?? relation.restKey}=${value}`),
            bobs.get(relation.target!())!,
            400,
          );
        }
      }
    }
  });

  test('rejects updates and deletions of a foreign row', async () => {
    const input = metadata.createMutationName ? inputOf(entity, 2, parentsIn(annas)) : {};

    if (metadata.updateMutationName) {
      const update = `mutation ($id: ID!, $input: ${entity.name}Patch!) { row: ${metadata.updateMutationName}(id: $id, input: $input) { ${WRONG} } }`;

      await expectUnknown(
        (id) => expectMissing(update, { id, input }, ['id'], id, entity.name),
        foreignId(),
        200,
      );
      await expectUnknown(
        (id) => expectMissing(update, { id, input: {} }, ['id'], id, entity.name),
        foreignId(),
        200,
      );
    }

    if (metadata.deleteMutationName) {
      const remove = `mutation ($id: ID!) { row: ${metadata.deleteMutationName}(id: $id) { deletedIds ${WRONG} } }`;

      await expectUnknown(
        (id) => expectMissing(remove, { id }, ['id'], id, entity.name),
        foreignId(),
        200,
      );
    }

    const body = bodyOf(entity, 2, parentsIn(annas));
    const { restName, routes, permittedMethods } = metadata.views[0]!;

    expect(routes).toBe('all');
    const status = (method: string) =>
      permittedMethods && !permittedMethods.includes(method) ? 403 : 404;

    await expectUnknown((id) => ann.put(`/${restName}/${id}/`, body), foreignId(), status('PUT'));
    await expectUnknown(
      (id) => ann.patch(`/${restName}/${id}/`, metadata.createMutationName ? body : {}),
      foreignId(),
      status('PATCH'),
    );
    await expectUnknown((id) => ann.patch(`/${restName}/${id}/`, {}), foreignId(), status('PATCH'));
    await expectUnknown((id) => ann.delete(`/${restName}/${id}/`), foreignId(), status('DELETE'));
  });

  const parents = ownedParents(entity).map((field): [string, typeof field] => [field.name, field]);

  if (parents.length) {
    test.each(parents)(
      'rejects creating a row with a foreign %s or moving it there',
      async (_field, field) => {
        const theirs = bobs.get(field.target!())!;
        const create = `mutation ($input: ${entity.name}Input!) { row: ${metadata.createMutationName}(input: $input) { ${WRONG} } }`;
        const input = inputOf(entity, 3, parentsIn(annas));

        await expectUnknown(
          (id) =>
            expectMissing(
              create,
              { input: { ...input, [field.name]: id } },
              ['input', field.name],
              id,
              field.target!().name,
            ),
          theirs,
          200,
        );
        const move = `mutation ($id: ID!, $input: ${entity.name}Patch!) { row: ${metadata.updateMutationName}(id: $id, input: $input) { ${WRONG} } }`;

        await expectUnknown(
          (id) =>
            expectMissing(
              move,
              { id: ownId(), input: { [field.name]: id } },
              ['input', field.name],
              id,
              field.target!().name,
            ),
          theirs,
          200,
        );
        // REST ignores hidden fields.
        if (field.hiddenInRest) return;
        const { restName } = metadata.views[0]!;
        const body = bodyOf(entity, 3, parentsIn(annas));

        await expectUnknown(
          (id) => ann.post(`/${restName}/`, { ...body, [field.restKey]: id }),
          theirs,
          403,
        );
        await expectUnknown(
          (id) => ann.put(`/${restName}/${ownId()}/`, { ...body, [field.restKey]: id }),
          theirs,
          403,
        );
        await expectUnknown(
          (id) => ann.patch(`/${restName}/${ownId()}/`, { [field.restKey]: id }),
          theirs,
          403,
        );
        // The parent is checked first, so that the response does not reveal the existence of the
        // row.
        await expectUnknown(
          (id) => ann.patch(`/${restName}/${foreignId()}/`, { [field.restKey]: id }),
          theirs,
          403,
        );
      },
    );
  }

  const {
    bulkCreateMutationName: bulkCreateMutationName,
    bulkUpdateMutationName: bulkUpdateMutationName,
    bulkDeleteMutationName: bulkDeleteMutationName,
  } = metadata;

  if (bulkCreateMutationName && bulkUpdateMutationName && bulkDeleteMutationName) {
    test('rejects bulk updates and deletions with a foreign row and reports its position', async () => {
      const update = `mutation ($changes: [${entity.name}Change!]!) { row: ${bulkUpdateMutationName}(changes: $changes) { ${WRONG} } }`;
      const remove = `mutation ($rows: [RowVersion!]!) { row: ${bulkDeleteMutationName}(rows: $rows) { ${WRONG} } }`;
      const input = inputOf(entity, 2, parentsIn(annas));
      const change = (id: number) =>
        expectMissing(
          update,
          { changes: [ownId(), id].map((one) => ({ id: one, input })) },
          ['changes', '1', 'id'],
          id,
          entity.name,
        );

      await expectUnknown(change, foreignId(), 200);
      const removal = (rows: { id: number }[], index: string, id: number) =>
        expectMissing(remove, { rows }, ['rows', index, 'id'], id, entity.name);

      await expectUnknown((id) => removal([{ id: ownId() }, { id }], '1', id), foreignId(), 200);
      await expectUnknown((id) => removal([{ id }, { id: ownId() }], '0', id), foreignId(), 200);
    });

    if (parents.length) {
      test.each(parents)(
        'rejects bulk creations with a foreign %s and bulk moves there',
        async (_field, field) => {
          const theirs = bobs.get(field.target!())!;
          const create = `mutation ($inputs: [${entity.name}Input!]!) { row: ${bulkCreateMutationName}(inputs: $inputs) { ${WRONG} } }`;
          const inputs = [4, 5].map((number) => inputOf(entity, number, parentsIn(annas)));
          const inputsWithParent = (id: number) => [inputs[0], { ...inputs[1], [field.name]: id }];

          await expectUnknown(
            (id) =>
              expectMissing(
                create,
                { inputs: inputsWithParent(id) },
                ['inputs', '1', field.name],
                id,
                field.target!().name,
              ),
            theirs,
            200,
          );
          const move = `mutation ($changes: [${entity.name}Change!]!) { row: ${bulkUpdateMutationName}(changes: $changes) { ${WRONG} } }`;
          const moveChanges = (id: number) => [{ id: ownId(), input: { [field.name]: id } }];

          await expectUnknown(
            (id) =>
              expectMissing(
                move,
                { changes: moveChanges(id) },
                ['changes', '0', 'input', field.name],
                id,
                field.target!().name,
              ),
            theirs,
            200,
          );
        },
      );
    }

    test('rejects anonymous bulk writes', async () => {
      const { anonymous } = fitgraph;

      for (const document of [
        `mutation { ${bulkCreateMutationName}(inputs: []) { errors { path } } }`,
        `mutation { ${bulkUpdateMutationName}(changes: [{ id: ${foreignId()}, input: {} }]) { errors { path } } }`,
        `mutation { ${bulkDeleteMutationName}(rows: [{ id: ${foreignId()} }]) { deletedIds } }`,
      ]) {
        expect((await anonymous.query(document)).code).toBe('UNAUTHENTICATED');
      }
    });
  }

  /** Children that can be created with this row and that reference a further parent. */
  const nestedReferences = metadata.createMutationName
    ? creatableChildFields(entity).flatMap((child) =>
        ownedParents(child.target())
          .filter(({ name }) => name !== child.referenceFieldName)
          .map((field): [string, string, typeof child, typeof field] => [
            child.name,
            field.name,
            child,
            field,
          ]),
      )
    : [];

  if (nestedReferences.length) {
    test.each(nestedReferences)(
      'rejects nested creations whose %s reference a foreign %s',
      async (_child, _field, child, field) => {
        const rows = await table(child.target());
        const row = inputBelow(child.target(), child.referenceFieldName, 6, parentsIn(annas));
        const create = `mutation ($input: ${entity.name}Input!) { row: ${metadata.createMutationName}(input: $input) { ${WRONG} } }`;

        const ask = async (id: number) => {
          const tree = {
            ...inputOf(entity, 6, parentsIn(annas)),
            [child.name]: [row, { ...row, [field.name]: id }],
          };

          return expectMissing(
            create,
            { input: tree },
            ['input', child.name, '1', field.name],
            id,
            field.target!().name,
          );
        };

        await expectUnknown(ask, bobs.get(field.target!())!, 200);
        expect(await table(child.target())).toEqual(rows);
      },
    );
  }

  test('ignores an owner in REST input and rejects one in GraphQL input', async () => {
    const { restName } = metadata.views[0]!;

    expect((await ann.patch(`/${restName}/${ownId()}/`, { user: bob.id })).status).toBe(200);
    const answer = await ann.query(
      `mutation ($id: ID!) { ${metadata.updateMutationName}(id: $id, input: { userId: ${bob.id} }) { errors { path } } }`,
      {
        id: ownId(),
      },
    );

    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  test('rejects anonymous requests', async () => {
    const { anonymous } = fitgraph;

    expect((await anonymous.query(`{ ${pluralName} { totalCount } }`)).code).toBe(
      'UNAUTHENTICATED',
    );
    expect((await anonymous.query(`{ ${singularName}(id: ${foreignId()}) { id } }`)).code).toBe(
      'UNAUTHENTICATED',
    );
    expect(
      (
        await anonymous.query(
          `mutation { ${metadata.updateMutationName}(id: ${foreignId()}, input: {}) { errors { path } } }`,
        )
      ).code,
    ).toBe('UNAUTHENTICATED');
    const detail = { detail: 'Authentication credentials were not provided.' };

    for (const rest of restOf(entity)) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        for (const path of [`/api/v2/${rest}/`, `/api/v2/${rest}/${foreignId()}/`]) {
          expect(await anonymous.send(method, path)).toMatchObject({ status: 403, body: detail });
        }
      }
    }
  });
});

test('a profile can be read and changed by its user only', async () => {
  const profile = findEntity('UserProfile')!;
  const [own, foreign] = [annas.get(profile)!, bobs.get(profile)!];
  const node = (id: number) =>
    ann.query('query ($id: ID!) { node(nodeId: $id) { nodeId } }', {
      id: nodeIdOf('UserProfile', id),
    });

  await expectUnknown(node, foreign, 200);
  expect((await node(own)).errors).toBeUndefined();

  for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
    await expectUnknown(
      (id) => ann.send(method, `/api/v2/userprofile/${id}/`, method === 'GET' ? undefined : {}),
      foreign,
      method === 'PUT' || method === 'DELETE' ? 403 : 404,
    );
  }

  const before = await fitgraph.sql('SELECT * FROM "user_profile" WHERE "id" = $1', [foreign]);
  const { updateProfile } = await ann.ask(
    'mutation { updateProfile(input: { height: 180 }) { userProfile { id height } errors { path } } }',
  );

  expect(updateProfile).toEqual({ userProfile: { id: String(own), height: 180 }, errors: [] });
  expect(await fitgraph.sql('SELECT * FROM "user_profile" WHERE "id" = $1', [foreign])).toEqual(
    before,
  );
  const { code } = await fitgraph.anonymous.query(
    'mutation { updateProfile(input: { height: 180 }) { errors { path } } }',
  );

  expect(code).toBe('UNAUTHENTICATED');
});

test('an account can be read by its user only', async () => {
  const node = (id: number) =>
    ann.query('query ($id: ID!) { node(nodeId: $id) { nodeId } }', { id: nodeIdOf('User', id) });

  await expectUnknown(node, bob.id, 200);
  expect((await node(ann.id)).errors).toBeUndefined();
  expect((await fitgraph.anonymous.query('{ viewer { id } }')).data).toEqual({ viewer: null });
});

test('accounts can be listed by superusers only', async () => {
  const list = (person: Person) => person.query('{ accounts { nodes { id username email } } }');
  const root = await fitgraph.user('root', { isSuperuser: true });

  for (const person of [ann, fitgraph.anonymous]) {
    expect((await list(person)).data).toEqual({ accounts: null });
  }

  expect((await list(root)).data.accounts.nodes.length).toBeGreaterThanOrEqual(3);
});
