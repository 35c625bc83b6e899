/**
 * Connections from public rows to rows of the viewer: they neither return nor count rows of other
 * users, and filters do not reveal them.
 */
import { fieldsOf } from '../../../src/engine/declare/fields';
import { findEntity, resourceOf } from '../../../src/engine/declare/registry';
import { nodeIdOf } from '../../../src/engine/declare/node';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { createOwnedRows, spreadIds, UNKNOWN, type OwnedRowIds } from '../../setup/owned-rows';
import { edgesToOwn, type Edge } from '../../setup/viewer-connections';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
const edges = edgesToOwn(buildGraphQLSchema());
let ann: Person;
let bob: Person;

/** A user without any rows. */
let carl: Person;
let annas: OwnedRowIds;
let bobs: OwnedRowIds;

beforeAll(async () => {
  await spreadIds(fitgraph);
  [ann, bob, carl] = [
    await fitgraph.user('ann'),
    await fitgraph.user('bob'),
    await fitgraph.user('carl'),
  ];
  [annas, bobs] = [await createOwnedRows(ann), await createOwnedRows(bob)];
});

test('the schema has connections from public rows to owned rows', () =>
  expect(edges.length).toBeGreaterThanOrEqual(2));

/** The public row that the rows of both users reference. */
const SHARED = '1';

describe.each(edges.map((edge): [string, Edge] => [`${edge.type.name}.${edge.field.name}`, edge]))(
  '%s',
  (_name, { type, field, target }) => {
    const { singularName, pluralName } = resourceOf(findEntity(type.name)!)!;

    /** The reference from the owned row to the public one. */
    const backReference = () =>
      fieldsOf(findEntity(target)!).find(
        ({ relation }) => relation?.typeName === type.name && !relation.isToMany,
      )!;
    const ownId = () => String(annas.get(findEntity(target)!));
    const foreignId = () => String(bobs.get(findEntity(target)!));
    const connectionField = (args = '') =>
      `shown: ${field.name}${args} { totalCount nodes { id } edges { node { id } } }`;
    const pageOf = (id: string) => ({ totalCount: 1, nodes: [{ id }], edges: [{ node: { id } }] });
    const none = { totalCount: 0, nodes: [], edges: [] };

    test('returns and counts only rows of the viewer', async () => {
      const lists = [
        `{ a: ${singularName}(id: ${SHARED}) { ${connectionField()} } }`,
        `{ a: node(nodeId: "${nodeIdOf(type.name, SHARED)}") { ... on ${type.name} { ${connectionField()} } } }`,
        `{ a: ${singularName}(id: ${SHARED}) { ${connectionField('(first: 1, offset: 0)')} } }`,
        `{ a: ${singularName}(id: ${SHARED}) { ${connectionField('(last: 5)')} } }`,
      ];

      for (const document of lists) {
        expect((await ann.ask(document)).a.shown).toEqual(pageOf(ownId()));
        expect((await bob.ask(document)).a.shown).toEqual(pageOf(foreignId()));
        expect((await carl.ask(document)).a.shown).toEqual(none);
      }

      const page = `{ rows: ${pluralName}(where: { id: { eq: ${SHARED} } }) { nodes { ${connectionField()} } } }`;

      expect((await ann.ask(page)).rows.nodes).toEqual([{ shown: pageOf(ownId()) }]);
      expect((await carl.ask(page)).rows.nodes).toEqual([{ shown: none }]);

      for (const args of [
        'offset: 1',
        `where: { id: { eq: ${foreignId()} } }`,
        `where: { not: { id: { eq: ${ownId()} } } }`,
      ]) {
        expect(
          (
            await ann.ask(
              `{ a: ${singularName}(id: ${SHARED}) { shown: ${field.name}(${args}) { nodes { id } } } }`,
            )
          ).a.shown.nodes,
        ).toEqual([]);
      }
    });

    test('returns only rows of the viewer when nested repeatedly', async () => {
      const object = backReference().relationFieldName;
      const { pluralName: owns } = resourceOf(findEntity(target)!)!;
      const document = `{ rows: ${owns} { nodes { up: ${object} { down: ${field.name} { totalCount nodes { id up: ${object} { ${connectionField()} } } } } } } }`;
      const answer = await ann.query(document);

      expect(answer.data.rows.nodes).toEqual([
        {
          up: { down: { totalCount: 1, nodes: [{ id: ownId(), up: { shown: pageOf(ownId()) } }] } },
        },
      ]);
      expect(answer.text).not.toContain(foreignId());
    });

    const list = `query ($where: ${type.name}Where) { rows: ${pluralName}(where: $where, first: 1000) { totalCount nodes { id } } }`;
    const textWhere = async (person: Person, where: object): Promise<string> =>
      (await person.query(list, { where })).text;

    test('does not reveal rows of other users to filters', async () => {
      const quantifiers = ['some', 'none'];
      const conditions = (id: string): object[] =>
        quantifiers.flatMap((quantifier) => {
          const inner = { id: { eq: id } };
          const deep = {
            [backReference().relationFieldName!]: { [field.name]: { [quantifier]: inner } },
          };
          const single = { [field.name]: { [quantifier]: inner } };

          return [
            single,
            { not: single },
            { or: [single, { id: { eq: '2' } }] },
            { [field.name]: { [quantifier]: { not: inner } } },
            ...quantifiers.map((outer) => ({ [field.name]: { [outer]: deep } })),
          ];
        });
      const [foreigns, unknowns] = [conditions(foreignId()), conditions(String(UNKNOWN))];

      for (const [index, where] of foreigns.entries()) {
        for (const person of [ann, carl]) {
          expect([where, await textWhere(person, where)]).toEqual([
            where,
            await textWhere(person, unknowns[index]!),
          ]);
        }
      }
    });

    test('applies `some` and `none` filters to rows of the viewer only', async () => {
      const ids = async (person: Person, where: object) =>
        (JSON.parse(await textWhere(person, where)) as any).data.rows.nodes.map(
          ({ id }: { id: string }) => id,
        );
      const all = await ids(carl, {});

      expect(all).toContain(SHARED);
      // A user without rows: `some` matches nothing, `none` matches everything.
      expect(await ids(carl, { [field.name]: { some: {} } })).toEqual([]);
      expect(await ids(carl, { [field.name]: { none: {} } })).toEqual(all);
      expect(await ids(carl, { [field.name]: { none: { not: { id: { in: [] } } } } })).toEqual(all);
      expect(await ids(ann, { [field.name]: { some: {} } })).toEqual([SHARED]);
      expect(await ids(ann, { [field.name]: { none: {} } })).toEqual(
        all.filter((id: string) => id !== SHARED),
      );
      // The other user's row references the same public row and does not count.
      expect(await ids(ann, { [field.name]: { none: { not: { id: { eq: ownId() } } } } })).toEqual(
        all,
      );
    });

    test('fails as UNAUTHENTICATED for anonymous clients and keeps public fields readable', async () => {
      const { data, errors } = await fitgraph.anonymous.query(
        `{ a: ${singularName}(id: ${SHARED}) { id ${connectionField()} } b: ${singularName}(id: ${SHARED}) { id } }`,
      );

      expect(data).toEqual({ a: { id: SHARED, shown: null }, b: { id: SHARED } });
      expect(errors).toMatchObject([
        { path: ['a', 'shown'], extensions: { code: 'UNAUTHENTICATED' } },
      ]);

      for (const quantifier of ['some', 'none']) {
        expect(
          (await fitgraph.anonymous.query(list, { where: { [field.name]: { [quantifier]: {} } } }))
            .code,
        ).toBe('UNAUTHENTICATED');
      }
    });
  },
);
