/** Results of the playground as tables and charts. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import {
  buildClientSchema,
  buildSchema,
  introspectionFromSchema,
  isObjectType,
  lexicographicSortSchema,
  parse as parseQuery,
  printSchema,
} from 'graphql';
import {
  chartDataOf,
  isChartCompatible,
  suggestChart,
} from '../../../src/web/playground/answer/chart';
import { sortIntrospection } from '../../../src/web/playground/schema-file';
import { shareUrlOf, parseShareUrl } from '../../../src/web/playground/answer/share-link';
import {
  arrangeTable,
  csvOf,
  DEFAULT_ARRANGEMENT,
  nextSortOrder,
} from '../../../src/web/playground/answer/arrangement';
import type { ChartSettings } from '../../../src/web/playground/answer/settings';
import {
  resultListsOf,
  defaultResultList,
  tableOf,
  type Table,
} from '../../../src/web/playground/answer/table';
import { columnTitlesOf } from '../../../src/web/playground/answer/column-titles';
import {
  unitsOf,
  convertMasses,
  type DisplayMassUnit,
} from '../../../src/web/playground/answer/mass-units';

const LOGS = {
  workouts: {
    totalCount: 2,
    nodes: [
      {
        comment: 'Push',
        user: { name: 'Ann' },
        muscles: [
          { name: 'Chest', id: '4' },
          { name: 'Triceps', id: '5' },
        ],
        logs: {
          nodes: [
            { date: '2026-03-08', reps: 5, weight: '100.00' },
            { date: '2026-03-09', reps: 10, weight: '60.00' },
          ],
        },
      },
      {
        comment: '=1+1',
        user: null,
        muscles: [],
        logs: { nodes: [{ date: '2026-03-10', reps: 9, weight: null }] },
      },
    ],
  },
};

const tableContent = ({ columns, rows }: Table) => [columns.map(({ name }) => name), ...rows];

const tableFrom = (data: unknown, name?: string): Table => {
  const lists = resultListsOf(data);

  return tableOf(data, lists.find((list) => list.path === name) ?? defaultResultList(lists));
};

describe('a table', () => {
  test('has the fields of a row as columns, and each nested list in one cell', () => {
    expect(tableContent(tableFrom(LOGS))).toEqual([
      [
        'comment',
        'user.name',
        'muscles.name',
        'muscles.id',
        'logs.nodes.date',
        'logs.nodes.reps',
        'logs.nodes.weight',
      ],
      ['Push', 'Ann', 'Chest; Triceps', '4; 5', '2026-03-08; 2026-03-09', '5; 10', '100.00; 60.00'],
      ['=1+1', null, null, null, '2026-03-10', 9, null],
    ]);
  });

  test('of a nested list repeats the columns of the parent row', () => {
    expect(resultListsOf(LOGS).map(({ path, rowCount }) => [path, rowCount])).toEqual([
      ['workouts.nodes', 2],
      ['workouts.nodes.muscles', 2],
      ['workouts.nodes.logs.nodes', 3],
    ]);
    const table = tableFrom(LOGS, 'workouts.nodes.logs.nodes');

    expect(table.rows).toEqual([
      ['Push', 'Ann', 'Chest; Triceps', '4; 5', '2026-03-08', 5, '100.00'],
      ['Push', 'Ann', 'Chest; Triceps', '4; 5', '2026-03-09', 10, '60.00'],
      ['=1+1', null, null, null, '2026-03-10', 9, null],
    ]);
    expect(table.columns.map(({ kind }) => kind)).toEqual([
      'text',
      'text',
      'text',
      'text',
      'time',
      'number',
      'number',
    ]);
  });

  test('shows the first of several lists, or a list nested in it if it has a single row', () => {
    const days = {
      plans: { nodes: [{ name: 'Cut', days: [{ energy: 2100.5 }, { energy: 1900 }] }] },
    };

    expect(tableContent(tableFrom(days))).toEqual([
      ['name', 'days.energy'],
      ['Cut', 2100.5],
      ['Cut', 1900],
    ]);
    expect(
      defaultResultList(
        resultListsOf({ a: [{ b: 1 }, { b: 2 }], c: [{ d: 1 }, { d: 2 }, { d: 3 }] }),
      )?.path,
    ).toBe('a');
  });

  test('has one row for a result without lists, and none for an empty list', () => {
    expect(
      tableContent(
        tableFrom({ viewer: { username: 'ann', profile: null }, rateLimit: { cost: 3 } }),
      ),
    ).toEqual([
      ['viewer.username', 'viewer.profile', 'rateLimit.cost'],
      ['ann', null, 3],
    ]);
    expect(resultListsOf({ workouts: { nodes: [] } })).toEqual([]);
  });

  test('treats ids and codes as text and decimals as numbers', () => {
    const kinds = tableFrom({
      rows: [
        {
          id: '1',
          exerciseId: '7',
          weight: '-1.50',
          code: '4001',
          at: '2026-03-08T10:00:00.000Z',
          time: '10:00:00',
        },
      ],
    });

    expect(kinds.columns.map(({ name, kind }) => [name, kind])).toEqual([
      ['id', 'text'],
      ['exerciseId', 'text'],
      ['weight', 'number'],
      ['code', 'text'],
      ['at', 'time'],
      ['time', 'text'],
    ]);
  });
});

describe('an arranged table', () => {
  const table = tableFrom(LOGS, 'workouts.nodes.logs.nodes');
  const first = (arrangement: Parameters<typeof arrangeTable>[1]) =>
    arrangeTable(table, arrangement).rows.map((row) => row[row.length - 2]);

  test('sorts numbers by value, with null last', () => {
    expect(
      first({ ...DEFAULT_ARRANGEMENT, sort: { columnName: 'logs.nodes.reps', descending: false } }),
    ).toEqual([5, 9, 10]);
    expect(
      first({
        ...DEFAULT_ARRANGEMENT,
        sort: { columnName: 'logs.nodes.weight', descending: false },
      }),
    ).toEqual([10, 5, 9]);
    expect(
      first({
        ...DEFAULT_ARRANGEMENT,
        sort: { columnName: 'logs.nodes.weight', descending: true },
      }),
    ).toEqual([5, 10, 9]);
  });

  test('cycles from ascending to descending to no order', () => {
    const once = { ...DEFAULT_ARRANGEMENT, sort: nextSortOrder(DEFAULT_ARRANGEMENT, 'a') };
    const twice = { ...DEFAULT_ARRANGEMENT, sort: nextSortOrder(once, 'a') };

    expect([once.sort, twice.sort, nextSortOrder(twice, 'a')]).toEqual([
      { columnName: 'a', descending: false },
      { columnName: 'a', descending: true },
      undefined,
    ]);
  });

  test('filters rows by visible columns, ignoring case', () => {
    expect(first({ ...DEFAULT_ARRANGEMENT, filterText: ' PUSH ' })).toEqual([5, 10]);
    expect(first({ filterText: 'push', hiddenColumnNames: new Set(['comment']) })).toEqual([]);
  });

  test('exports visible columns as CSV without formulas', () => {
    const csv = csvOf(
      arrangeTable(table, {
        filterText: '',
        hiddenColumnNames: new Set(['muscles.name', 'muscles.id', 'user.name']),
      }),
    );

    expect(parse(csv)).toEqual([
      ['comment', 'logs.nodes.date', 'logs.nodes.reps', 'logs.nodes.weight'],
      ['Push', '2026-03-08', '5', '100.00'],
      ['Push', '2026-03-09', '10', '60.00'],
      ["'=1+1", '2026-03-10', '9', ''],
    ]);
  });
});

describe('a chart', () => {
  const rows = (...all: object[]) => tableFrom({ rows: all });

  test.each([
    [
      'dates and numbers',
      rows({ day: '2026-01-01', kg: '80' }, { day: '2026-01-02', kg: '81' }),
      { kind: 'line', x: 'day', y: ['kg'] },
    ],
    [
      'repeated dates',
      rows({ day: '2026-01-01', of: 'a', n: 1 }, { day: '2026-01-01', of: 'b', n: 2 }),
      { kind: 'stacked', x: 'day', y: ['n'], by: 'of' },
    ],
    [
      'names and numbers',
      rows({ name: 'a', n: 1 }, { name: 'b', n: 2 }),
      { kind: 'bar', x: 'name', y: ['n'] },
    ],
    [
      'pairs of names',
      rows(
        { name: 'a', of: 'x', n: 1 },
        { name: 'a', of: 'y', n: 2 },
        { name: 'b', of: 'x', n: 2 },
      ),
      { kind: 'heatmap', x: 'name', y: ['of'], by: 'n' },
    ],
    ['only numbers', rows({ a: 1, b: 2 }, { a: 3, b: 4 }), { kind: 'scatter', x: 'a', y: ['b'] }],
    ['no numbers', rows({ name: 'a' }, { name: 'b' }), undefined],
  ])('is suggested by the columns: %s', (_columns, table, settings) => {
    expect(suggestChart(table)).toEqual(settings);
    if (settings) expect(isChartCompatible(table, settings as ChartSettings)).toBe(true);
  });

  test.each(['bar', 'stacked', 'line', 'scatter'] as const)(
    'omits values that are not numbers: %s',
    (kind) => {
      const table = rows(
        { name: 'a', n: 1, note: 'heavy' },
        { name: 'b', n: 2, note: '7.5' },
        { name: 'c', n: 3, note: null },
        { name: 'd', n: 4, note: 'NaN' },
        { name: 'e', n: 5, note: 'Infinity' },
      );

      expect(table.columns.find(({ name }) => name === 'note')!.kind).toBe('text');
      const { series } = chartDataOf(table, { kind, x: 'name', y: ['note'] });

      expect(series.map(({ name, points }) => [name, points.map(([x, y]) => [x, y])])).toEqual([
        ['Note', [[1, 7.5]]],
      ]);
      expect(chartDataOf(table, { kind, x: 'n', y: ['name'] }).series).toEqual([]);
    },
  );

  test('connects the points of a line in the order of a time or number axis, whatever the order of the rows', () => {
    const table = rows(
      { day: '2026-03-01', at: '2026-03-01T23:00:00-02:00', n: 10, name: 'b', kg: 3 },
      { day: '0050-01-01', at: '2026-03-02T00:30:00Z', n: 9, name: 'a', kg: 2 },
      { day: '2025-12-31', at: '2026-02-01T00:00:00Z', n: 100, name: 'c', kg: 1 },
    );
    const values = (kind: 'line' | 'scatter', x: string) =>
      chartDataOf(table, { kind, x, y: ['kg'] }).series.map(({ points }) =>
        points.map(([, value]) => value),
      );

    expect(values('line', 'day')).toEqual([[2, 1, 3]]);
    expect(values('line', 'at')).toEqual([[1, 2, 3]]);
    expect(values('line', 'n')).toEqual([[2, 3, 1]]);
    expect(values('line', 'name')).toEqual([[3, 2, 1]]);
    expect(values('scatter', 'day')).toEqual([[3, 2, 1]]);
  });

  test('adds up values of the same bar or heatmap cell, but not of scatter points', () => {
    const table = rows(
      { name: 'a', of: 'x', n: 1 },
      { name: 'a', of: 'x', n: 2 },
      { name: 'b', of: 'y', n: null },
    );
    const points = (kind: 'bar' | 'scatter' | 'heatmap') =>
      chartDataOf(
        table,
        kind === 'heatmap'
          ? { kind, x: 'name', y: ['of'], by: 'n' }
          : { kind, x: 'name', y: ['n'] },
      ).series.map(({ points }) => points.map(([x, y, label]) => [x, y, label]));

    expect(points('bar')).toEqual([[[0, 3, '']]]);
    expect(points('scatter')).toEqual([
      [
        [0, 1, 'x'],
        [0, 2, 'x'],
      ],
    ]);
    expect(points('heatmap')).toEqual([
      [
        [0, 1, '3'],
        [1, 0, '0'],
      ],
    ]);
  });
});

describe('a shared link', () => {
  const shared = {
    query: 'query A { a }',
    variables: '{"name":"é&=#"}',
    view: 'chart',
    listPath: 'a.nodes.b',
    chart: { kind: 'bar', x: 'a', y: ['b'], by: 'c' },
    massUnit: 'lb',
  } as const;

  test('contains the query, its variables and the view, but no headers', () => {
    const link = shareUrlOf({
      ...shared,
      headers: '{"Authorization":"Bearer fgt_secret"}',
    } as typeof shared);

    expect(parseShareUrl(new URL(link, 'https://fit.example.com'))).toEqual(shared);
    expect(link).not.toContain('secret');
  });

  test('sends nothing to the server, which would reject a long query', () => {
    const long = { query: `{ ${'a '.repeat(6_000)}}`, variables: '{"b":1}' };
    const url = new URL(shareUrlOf(long), 'https://fit.example.com');

    expect(url.pathname + url.search).toBe('/playground');
    expect(parseShareUrl(url)).toEqual(long);
  });

  test('may have its parameters in the query string', () => {
    const url = new URL(shareUrlOf(shared).replace('#', '?'), 'https://fit.example.com');

    expect(parseShareUrl(url)).toEqual(shared);
    url.hash = '#content';
    expect(parseShareUrl(url)).toEqual(shared);
  });

  test('ignores invalid parts of an edited URL', () => {
    const parseSearch = (search: string) =>
      parseShareUrl(new URL(`https://fit.example.com/playground#${search}`));

    expect(
      parseSearch('query={a}&view=pie&unit=stone&chart={"kind":"pie","x":"a","y":["b"]}'),
    ).toEqual({ query: '{a}' });
    expect(parseSearch('query={a}&chart={')).toEqual({ query: '{a}' });
    expect(parseSearch('query={a}&chart={"kind":"bar","x":"a","y":"b"}')).toEqual({ query: '{a}' });
    expect(parseSearch('view=chart')).toBeUndefined();
  });
});

const schema = buildSchema(readFileSync(path.join(__dirname, '../../../schema.graphql'), 'utf8'));

test('sorts types and fields of the documentation by name, without changing the schema', () => {
  const scrambled = buildSchema(
    'type Query { b(z: Int, a: Int): B a: Int } type B { z: Int c: Int } input A { y: Int x: Int }',
  );
  const { __schema } = sortIntrospection(introspectionFromSchema(scrambled));

  expect(__schema.types.map(({ name }) => name).filter((name) => name.length === 1)).toEqual([
    'A',
    'B',
  ]);
  const query = buildClientSchema(
    sortIntrospection(introspectionFromSchema(scrambled)),
  ).getQueryType()!;

  expect(Object.keys(query.getFields())).toEqual(['a', 'b']);
  expect(query.getFields().b!.args.map(({ name }) => name)).toEqual(['z', 'a']);
  const listed = buildClientSchema(sortIntrospection(introspectionFromSchema(schema)));

  expect(isObjectType(listed.getType('WorkoutLog'))).toBe(true);
  expect(printSchema(lexicographicSortSchema(listed))).toBe(
    printSchema(lexicographicSortSchema(buildClientSchema(introspectionFromSchema(schema)))),
  );
});

describe('columns with a mass', () => {
  const massUnits = (query: string, variables = {}) =>
    Object.fromEntries(unitsOf(schema, { query: parseQuery(query), variables }));

  test('take a bounded time if aliases multiply the paths of nested fragments', () => {
    const fragments = Array.from(
      { length: 40 },
      (_, index) =>
        `fragment F${index} on Muscle { a: exercises { nodes { muscles { ...F${index + 1} } } } b: exercises { nodes { muscles { ...F${index + 1} } } } }`,
    );

    expect(
      massUnits(
        `{ muscleVolume { tonnage } muscle(id: 1) { ...F0 } } ${fragments.join(' ')} fragment F40 on Muscle { id }`,
      ),
    ).toEqual({
      'muscleVolume.tonnage': 'kg',
    });
  });

  test('are found at once, however often fragments spread others', () => {
    const fragments = Array.from(
      { length: 40 },
      (_, index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`,
    );
    const query = `{ ...F0 } ${fragments.join(' ')} fragment F40 on Query { muscleVolume { tonnage } }`;

    expect(massUnits(query)).toEqual({ 'muscleVolume.tonnage': 'kg' });
  });

  test('are detected by the unit argument of the field or a parent, literal or variable', () => {
    expect(
      massUnits('{ bestOneRepMaxes { oneRepMax log { max: oneRepMax(unit: LB) reps } } }'),
    ).toEqual({
      'bestOneRepMaxes.oneRepMax': 'kg',
      'bestOneRepMaxes.log.max': 'lb',
    });
    const queryWithUnit =
      'query ($unit: MassUnit!) { muscleVolume(unit: $unit) { ...P } } fragment P on MuscleVolume { tonnage hardSets }';

    expect(massUnits(queryWithUnit, { unit: 'LB' })).toEqual({ 'muscleVolume.tonnage': 'lb' });
    const queryWithDefault =
      'query ($unit: MassUnit! = LB) { muscleVolume(unit: $unit) { tonnage } }';

    expect(massUnits(queryWithDefault)).toEqual({ 'muscleVolume.tonnage': 'lb' });
    expect(massUnits(queryWithDefault, { unit: 'KG' })).toEqual({ 'muscleVolume.tonnage': 'kg' });
    expect(massUnits('{ bodyWeightTrend(unit: LB) { date weight trend ratePerWeek } }')).toEqual({
      'bodyWeightTrend.weight': 'lb',
      'bodyWeightTrend.trend': 'lb',
      'bodyWeightTrend.ratePerWeek': 'lb',
    });
  });

  test('are detected for statistics of kilograms, but not for their counts', () => {
    const groupedQuery =
      '{ workoutLogsGrouped { max { weightKg weight reps } median { weightKg } countDistinct(of: WEIGHT_KG) } }';

    expect(massUnits(groupedQuery)).toEqual({
      'workoutLogsGrouped.max.weightKg': 'kg',
      'workoutLogsGrouped.median.weightKg': 'kg',
    });
    // `value` is not always a mass: that depends on the kind of the record.
    expect(massUnits('{ personalRecords { kind value previous weight } }')).toEqual({
      'personalRecords.weight': 'kg',
    });
  });

  test('are not the only values with a unit: energy and nutrients have one that is not converted', () => {
    const query = '{ nutritionIntake(perPlan: false) { total { energy protein } days } }';
    const units = massUnits(query);

    expect(units).toEqual({
      'nutritionIntake.total.energy': 'kcal',
      'nutritionIntake.total.protein': 'g',
    });
    const data = { nutritionIntake: [{ total: { energy: '100.00', protein: '5.00' }, days: 1 }] };
    const [list] = resultListsOf(data);
    const table = convertMasses(tableOf(data, list), new Map(Object.entries(units)), list, 'lb');

    expect([...columnTitlesOf(table.columns).values()]).toEqual([
      'Total energy (kcal)',
      'Total protein (g)',
      'Days',
    ]);
    expect(table.rows).toEqual([['100.00', '5.00', 1]]);
  });

  test('are converted to the selected unit, which is added to their title', () => {
    const data = {
      workoutLogs: {
        nodes: [
          { weightKg: '100.000', reps: 5 },
          { weightKg: null, reps: 3 },
        ],
      },
    };
    const [list] = resultListsOf(data);
    const found = unitsOf(schema, {
      query: parseQuery('{ workoutLogs { nodes { weightKg reps } } }'),
    });
    const table = (unit?: DisplayMassUnit) => convertMasses(tableOf(data, list), found, list, unit);

    expect(tableContent(table())).toEqual([
      ['weightKg', 'reps'],
      ['100.000', 5],
      [null, 3],
    ]);
    expect(tableContent(table('lb'))).toEqual([
      ['weightKg', 'reps'],
      ['220.46', 5],
      [null, 3],
    ]);
    expect([...columnTitlesOf(table('lb').columns).values()]).toEqual(['Weight (lb)', 'Reps']);
    expect([table(), table('kg'), table('lb')].map((one) => csvOf(one).split('\r\n')[0])).toEqual([
      'weightKg,reps',
      'weightKg,reps',
      'weightKg (lb),reps',
    ]);
  });
});

test('derives the titles of columns and axes from the paths of their fields', () => {
  const columns = [
    'keys.dateBucket.start',
    'keys.exercise.name',
    'max.weightKg',
    'avg.reps',
    'bucket.start',
    'keys.hour.number',
    'a.name',
    'b.a.name',
    'a',
  ];
  const titles = columnTitlesOf(
    columns.map((name) => ({ name, kind: 'text', ...(name === 'max.weightKg' && { unit: 'kg' }) })),
  );

  expect([...titles.values()]).toEqual([
    'Date',
    'Exercise',
    'Max weight (kg)',
    'Mean reps',
    'Start',
    'Hour',
    'a.name',
    'B a',
    'a',
  ]);
  const poundColumns = ['strength.total', 'strength.bodyWeight'].map(
    (name) => ({ name, kind: 'number', unit: 'lb' }) as const,
  );

  expect([...columnTitlesOf(poundColumns).values()]).toEqual(['Total (lb)', 'Body weight (lb)']);
  const { x, y } = chartDataOf(
    tableFrom({
      rows: [
        { keys: { hardSets: 'a' }, sum: { n: 1 } },
        { keys: { hardSets: 'b' }, sum: { n: 1 } },
      ],
    }),
    {
      ...{ kind: 'bar', x: 'keys.hardSets', y: ['sum.n'] },
    },
  );

  expect([x.name, ...y.names]).toEqual(['Hard sets', 'Sum n']);
});
