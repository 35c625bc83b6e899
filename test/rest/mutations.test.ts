/**
 * REST writes of schedule steps, meal items and diary entries, which the recorded contract does not
 * cover.
 */
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Answer, Person } from '../setup/person';

const fitgraph = fitgraphForThisFile({ environment: { TIME_ZONE: 'Europe/Berlin' } });
let ann: Person;
let bob: Person;

/** Ids of Ann's rows and of Bob's rows, by the key that refers to them in request bodies. */
const own: Record<string, number> = {};
const other: Record<string, number> = {};

async function createParents(person: Person, ids: Record<string, number>): Promise<void> {
  ids.workout = (await person.post('/workout/', {})).body.id;
  ids.schedule = (await person.post('/schedule/', { name: 'Spring' })).body.id;
  ids.plan = (await person.post('/nutritionplan/', {})).body.id;
  ids.meal = (await person.post('/meal/', { plan: ids.plan })).body.id;
}

beforeAll(async () => {
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  // Ann's rows have the id 1, because the lookup of a parent treats `true` as 1.
  await createParents(ann, own);
  await createParents(bob, other);
});

const REQUIRED = ['This field is required.'];
const NULL = ['This field may not be null.'];
const INTEGER = ['A valid integer is required.'];
const NUMBER = ['A valid number is required.'];
const MOMENT = [
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
];
const ZONE = ['Invalid datetime for the timezone "Europe/Berlin".'];
const RANGE = ['Datetime value out of range.'];
const atMost = (limit: number) => [`Ensure this value is less than or equal to ${limit}.`];
const atLeast = (limit: number) => [`Ensure this value is greater than or equal to ${limit}.`];
const unknown = (id: string) => [`Invalid pk "${id}" - object does not exist.`];
const type = (name: string) => [`Incorrect type. Expected pk value, received ${name}.`];
const FORBIDDEN = { status: 403, body: { detail: 'You are not allowed to do this' } };
const NOT_FOUND = { status: 404, body: { detail: 'Not found.' } };

/** A value in the request, and the value in the response or a list of error messages. */
type Sent = [unknown, unknown];

const AMOUNTS: Sent[] = [
  [1, '1.00'],
  ['1000.00', '1000.00'],
  [80.1, '80.10'],
  [' 80.5 ', '80.50'],
  ['８０', '80.00'],
  ['1e2', '100.00'],
  [0, atLeast(1)],
  ['0.99', atLeast(1)],
  [-1, atLeast(1)],
  ['1000.01', atMost(1000)],
  [10000, ['Ensure that there are no more than 4 digits before the decimal point.']],
  [1000000, ['Ensure that there are no more than 6 digits in total.']],
  ['1.234', ['Ensure that there are no more than 2 decimal places.']],
  ['1.500', ['Ensure that there are no more than 2 decimal places.']],
  [null, NULL],
  ['', NUMBER],
  ['NaN', NUMBER],
  ['1,5', NUMBER],
  [true, NUMBER],
  [[1], NUMBER],
];

const REFERENCES: Sent[] = [
  ['1', 1],
  [1.7, 1],
  ['１', type('str')],
  [0, unknown('0')],
  [-1, unknown('-1')],
  [99999, unknown('99999')],
  [99999.7, unknown('99999.7')],
  ['099999', unknown('099999')],
  ['99999999999999999999', unknown('99999999999999999999')],
  ['x', type('str')],
  ['1.5', type('str')],
  [false, type('bool')],
  [[], type('list')],
  [{}, type('dict')],
];

interface Resource {
  parents: string[];

  /** Other fields of a valid request body. `expected` has those of its response. */
  good: Record<string, unknown>;
  expected: Record<string, unknown>;
  required: string[];
  fields: Record<string, Sent[]>;

  /** Read-only and unknown fields, which are ignored. */
  ignored: Record<string, unknown>;
}

const FOOD = {
  good: { ingredient: 1, amount: '2.5' },
  expected: { ingredient: 1, weight_unit: null, amount: '2.50' },
};
const UNITS: Sent[] = [[null, null], ['', null], [2, 2], ...REFERENCES];
const INGREDIENTS: Sent[] = [[null, NULL], ['', NULL], ...REFERENCES];

const RESOURCES: Record<string, Resource> = {
  schedulestep: {
    parents: ['schedule', 'workout'],
    good: {},
    expected: { duration: 4 },
    required: ['schedule', 'workout'],
    ignored: { id: 7, order: 9, user: 1, unknown: 'x' },
    fields: {
      duration: [
        [1, 1],
        [25, 25],
        ['5.0', 5],
        [' 5 ', 5],
        ['８', INTEGER],
        [0, atLeast(1)],
        [26, atMost(25)],
        [2147483648, atMost(25)],
        [null, NULL],
        ['', INTEGER],
        [2.5, INTEGER],
        [true, INTEGER],
        [[4], INTEGER],
      ],
    },
  },
  mealitem: {
    parents: ['meal'],
    good: FOOD.good,
    expected: { ...FOOD.expected, order: 1 },
    required: ['meal', 'ingredient', 'amount'],
    ignored: { id: 7, order: 'x', user: 1, unknown: 'x' },
    fields: { amount: AMOUNTS, ingredient: INGREDIENTS, weight_unit: UNITS },
  },
  nutritiondiary: {
    parents: ['plan'],
    good: { ...FOOD.good, datetime: '2021-03-10T08:00:00' },
    expected: { ...FOOD.expected, datetime: '2021-03-10T08:00:00+01:00' },
    required: ['plan', 'ingredient', 'amount'],
    ignored: { id: 7, comment: 'x', user: 1 },
    fields: {
      amount: AMOUNTS,
      ingredient: INGREDIENTS,
      weight_unit: UNITS,
      datetime: [
        ['2021-07-10T08:00:00Z', '2021-07-10T10:00:00+02:00'],
        ['2021-07-10 08:00', '2021-07-10T08:00:00+02:00'],
        ['2021-03-10T08:00:00.5', '2021-03-10T08:00:00.500000+01:00'],
        ['2021-03-10T08:00:00.1234567Z', '2021-03-10T09:00:00.123456+01:00'],
        // PostgreSQL would not accept offsets as large as these two.
        ['2021-03-10T08:00:00+20:00', '2021-03-09T13:00:00+01:00'],
        ['2021-03-10T08:00:00.25-2359', '2021-03-11T08:59:00.250000+01:00'],
        ['2021-10-31T02:30:00+02:00', '2021-10-31T02:30:00+02:00'],
        ['2021-10-31T02:30:00+01:00', '2021-10-31T02:30:00+01:00'],
        ['2021-10-31T02:30:00', ZONE],
        ['2021-03-28T02:30:00', ZONE],
        ['2021-03-10T08:00:00+24:00', MOMENT],
        ['2021-03-10T08:00:00+02:60', '2021-03-10T06:00:00+01:00'],
        ['2021-03-10', MOMENT],
        ['2021-02-30T08:00:00', MOMENT],
        ['', MOMENT],
        [20210310, MOMENT],
        [null, NULL],
        ['9999-12-31T23:59:59Z', RANGE],
        ['0001-01-01T00:00:00+05:00', RANGE],
      ],
    },
  },
};

describe.each(Object.entries(RESOURCES))(
  'REST writes of %s',
  (name, { parents, good, expected: storedValues, required, fields, ignored }) => {
    const list = `/${name}/`;
    const parentIds = () => Object.fromEntries(parents.map((key) => [key, own[key]]));
    const body = () => ({ ...parentIds(), ...good });
    const createOwnRow = async () => (await ann.post(list, body())).body.id as number;
    const errors = (keys: string[]) => Object.fromEntries(keys.map((key) => [key, REQUIRED]));

    const sentValues = Object.entries(fields).flatMap(([key, values]) =>
      values.map(([value, back]): [string, unknown, unknown] => [key, value, back]),
    );

    test.each(sentValues)('validate the field %s: %j', async (key, value, back) => {
      const expectedAnswer = Array.isArray(back)
        ? { status: 400, body: { [key]: back } }
        : {
            status: 201,
            body: { ...parentIds(), ...storedValues, [key]: back, id: expect.any(Number) },
          };
      const { status, body: answer } = await ann.post(list, { ...body(), [key]: value });

      expect({ status, body: answer }).toEqual(expectedAnswer);
    });

    test('require mandatory fields and ignore read-only and unknown ones', async () => {
      expect(await ann.post(list, {})).toMatchObject({ status: 400, body: errors(required) });
      const { status, body: row } = await ann.post(list, { ...body(), ...ignored });

      expect({ status, row }).toEqual({
        status: 201,
        row: { ...parentIds(), ...storedValues, id: expect.any(Number) },
      });
      expect(row.id).not.toBe(ignored.id);
    });

    test.each([
      [[], 'Invalid data. Expected a dictionary, but got list.'],
      ['"x"', 'Invalid data. Expected a dictionary, but got str.'],
      ['null', 'No data provided'],
    ])('reject the body %j', async (data, message) => {
      const badRequest = { status: 400, body: { non_field_errors: [message] } };

      expect(await ann.post(list, data)).toMatchObject(badRequest);
      expect(await ann.patch(`${list}${await createOwnRow()}/`, data)).toMatchObject(badRequest);
    });

    test('treat an empty form value as null or as omitted', async () => {
      const optional = Object.keys(storedValues).filter(
        (key) => !required.includes(key) && key in fields,
      );
      const form = new URLSearchParams({
        ...(body() as Record<string, string>),
        ...Object.fromEntries(optional.map((key) => [key, ''])),
      });
      const answer = await ann
        .withHeaders({ 'Content-Type': 'application/x-www-form-urlencoded' })
        .post(list, form.toString());
      const now = 'datetime' in storedValues && {
        datetime: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\+0[12]:00$/),
      };

      expect(answer).toMatchObject({
        status: 201,
        body: { ...parentIds(), ...storedValues, ...now },
      });
    });

    test('keep fields that PUT or PATCH omits, and return 404 to other users and after DELETE', async () => {
      const id = await createOwnRow();
      const path = `${list}${id}/`;
      const [field, [[first, changed]]] = Object.entries(fields)[0] as [string, Sent[] & [Sent]];
      const row = { ...parentIds(), ...storedValues, id, [field]: changed };

      expect(await ann.patch(path, { [field]: first })).toMatchObject({ status: 200, body: row });
      expect(await ann.patch(path, {})).toMatchObject({ status: 200, body: row });
      expect(await ann.put(path, {})).toMatchObject({ status: 400, body: errors(required) });
      const needed = Object.fromEntries(
        Object.entries({ ...body(), [field]: first }).filter(([key]) => required.includes(key)),
      );

      expect(await ann.put(path, needed)).toMatchObject({ status: 200, body: row });
      expect((await ann.get(path)).body).toEqual(row);

      for (const answer of [
        await bob.get(path),
        await bob.patch(path, {}),
        await bob.put(path, {}),
        await bob.delete(path),
      ]) {
        expect(answer).toMatchObject(NOT_FOUND);
      }

      expect(await ann.options(path)).toMatchObject({
        body: { actions: { PUT: { id: { read_only: true } } } },
      });
      expect((await bob.options(path)).body).not.toHaveProperty('actions');
      expect([(await ann.delete(path)).status, (await ann.delete(path)).status]).toEqual([
        204, 404,
      ]);
    });

    describe.each(parents)('in the parent field %s', (key) => {
      const writeAllWays = async (value: unknown, rest: object): Promise<Answer[]> => {
        const write = { ...rest, [key]: value };
        const path = `${list}${await createOwnRow()}/`;

        return [
          await ann.post(list, write),
          await ann.put(path, write),
          await ann.patch(path, write),
          await ann.patch(path, { [key]: value }),
        ];
      };

      test('return the same 403 for foreign and unknown rows before they validate fields', async () => {
        const { [key]: id } = other;
        const foreign = [
          id,
          String(id),
          id! + 0.7,
          999_999,
          '999999',
          99_999_999_999,
          '99999999999999999999',
          -1,
          '0',
        ];

        for (const value of foreign) {
          for (const answer of await writeAllWays(value, { amount: 'x', duration: 'x' })) {
            expect(answer).toMatchObject(FORBIDDEN);
          }
        }

        expect(await ann.patch(`${list}999999/`, { [key]: id })).toMatchObject(FORBIDDEN);
        expect(await ann.post(list, `{"${key}": ${id}}`)).toMatchObject(FORBIDDEN);
      });

      test.each([
        [null, NULL],
        ['', NULL],
        [0, unknown('0')],
        ['x', type('str')],
        [' ', type('str')],
        ['1.5', type('str')],
        [true, type('bool')],
        [false, type('bool')],
        [[1], type('list')],
        [[], type('list')],
        [{ id: 1 }, type('dict')],
      ])('reject %j', async (value, messages) => {
        for (const answer of await writeAllWays(value, good)) {
          expect([answer.status, answer.body[key]]).toEqual([400, messages]);
        }
      });

      test('accept a number, text or fraction, and another owned row', async () => {
        for (const value of [own[key], ` ${own[key]} `, own[key]! + 0.7]) {
          expect(await ann.post(list, { ...body(), [key]: value })).toMatchObject({
            status: 201,
            body: parentIds(),
          });
        }

        const further: Record<string, number> = {};

        await createParents(ann, further);
        const moved = await ann.patch(`${list}${await createOwnRow()}/`, { [key]: further[key] });

        expect(moved).toMatchObject({
          status: 200,
          body: { ...parentIds(), ...storedValues, [key]: further[key] },
        });
      });
    });
  },
);
