/** SELECT statements: each reads the same rows as a statement written by hand. */
import type { TextOrder } from '../../../src/engine/declare/policies';
import { fieldsOf, type Entity, type EntityField } from '../../../src/engine/declare/fields';
import { linkDiscriminatorCondition } from '../../../src/engine/declare/link-table';
import { allEntities, resourceOf } from '../../../src/engine/declare/registry';
import { fieldSqlExpression } from '../../../src/engine/sql/expressions';
import { ORDER_BY_ID, type OrderByTerm } from '../../../src/engine/sql/ordering';
import {
  columnSet,
  buildSelectStatement,
  type SelectedExpression,
  type SelectClauses,
} from '../../../src/engine/sql/select';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { populate } from '../../setup/rows-of-every-type';
import { randomFor, seeded, type Random } from '../../setup/random';

const SHAPES_PER_TYPE = 40;

const fitgraph = fitgraphForThisFile({ content: 'tables' });

beforeAll(async () => {
  await populate(fitgraph, 'selections');
});

interface Case {
  shape: SelectClauses;
  names: string[];
  textOrder: TextOrder;
  values: number[];
}

/** Draws a shape. Each part has few choices, so that many shapes differ in only one part. */
function randomCase(random: Random, entity: Entity): Case {
  const textOrder = random.pick(['unicode', 'bytes'] as const);
  const fields = fieldsOf(entity);
  const names = fields.filter(() => random.chance(0.5)).map(({ name }) => name);
  const stored = fields.filter(({ column }) => column) as [EntityField, ...EntityField[]];
  const link = fields.find((field) => field.link && !field.link.keyColumn)?.link;
  const [low, high] = [random.int(0, 6), random.int(3, 30)];
  const where = random.pick([
    '',
    't."id" > $1::int',
    't."id" > $1::int AND t."id" <= $2::int',
    '(t."id" > $1::int OR t."id" <= $2::int)',
  ]);
  const places = ['$1', '$2'].filter((place) => where.includes(place)).length;
  const limit = random.pick(['', `$${places + 1}::int`]);
  const offset = limit && random.chance(0.5) ? `$${places + 2}::int` : '';

  const term = (): OrderByTerm => {
    const field = random.pick(stored);

    return {
      sql: fieldSqlExpression(field, 't'),
      descending: random.chance(0.5),
      nullsFirst: random.chance(0.5),
      isNullable: field.allowNull,
    };
  };

  const extraExpressions: SelectedExpression[] = random.chance(0.3)
    ? [[fieldSqlExpression(random.pick(stored), 't'), '_0']]
    : [];

  return {
    names: ['id', ...names],
    textOrder,
    values: [
      ...[low, high].slice(0, places),
      ...(limit ? [random.int(1, 9)] : []),
      ...(offset ? [random.int(0, 5)] : []),
    ],
    shape: {
      columns: columnSet(entity, names, textOrder),
      extraExpressions,
      joins:
        link && random.chance(0.3)
          ? ` JOIN "${link.table}" j0 ON j0."${link.ownColumn}" = t."id"${linkDiscriminatorCondition(link, 'j0')}`
          : '',
      where,
      order: random.chance(0.8) ? [...(random.chance(0.6) ? [term()] : []), ORDER_BY_ID] : [],
      limit,
      offset,
    },
  };
}

/** Composes the statement for a shape without the code under test. */
function handWrittenSql({ shape, names, textOrder }: Case): string {
  const { columns, extraExpressions = [], joins = '', where, order = [], limit, offset } = shape;
  const listed = fieldsOf(columns.entity)
    .filter(({ name }) => names.includes(name))
    .map((field) => `${fieldSqlExpression(field, 't', textOrder)} AS "${field.name}"`);
  const sorted = order.map(
    ({ sql, descending, nullsFirst }) =>
      `${sql} ${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`,
  );

  return [
    `SELECT ${[...listed, ...extraExpressions.map(([sql, name]) => `${sql} AS "${name}"`)].join(', ')}`,
    `FROM "${resourceOf(columns.entity)!.table}" t${joins}`,
    where && `WHERE ${where}`,
    sorted.length && `ORDER BY ${sorted.join(', ')}`,
    limit && `LIMIT ${limit}`,
    offset && `OFFSET ${offset}`,
  ]
    .filter(Boolean)
    .join(' ');
}

test.each(allEntities().map((entity): [string, Entity] => [entity.name, entity]))(
  seeded('builds correct statements for random shapes of %s'),
  async (name, entity) => {
    const random = randomFor(`shapes of ${name}`);
    const cases = new Map<string, Case>();

    while (cases.size < SHAPES_PER_TYPE) {
      const one = randomCase(random, entity);

      cases.set(buildSelectStatement(one.shape), one);
    }

    for (const [text, one] of cases) {
      const isOrdered = one.shape.order!.length > 0 && !one.shape.joins;

      // A page of an unordered result is arbitrary. Complete unordered results are sorted before
      // they are compared.
      if (one.shape.limit && !isOrdered) continue;
      const [found, reference] = [
        await fitgraph.sql(text, one.values),
        await fitgraph.sql(handWrittenSql(one), one.values),
      ];
      const comparable = (rows: object[]) =>
        isOrdered ? rows : rows.map((row) => JSON.stringify(row)).sort();

      expect(comparable(found)).toEqual(comparable(reference));
    }
  },
);
