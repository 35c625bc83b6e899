/** Variants of exported files: the delimiter and the decimal sign of CSV. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { exporterOf } from './exported';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let file: ReturnType<typeof exporterOf>;

const LOGS = '{ workoutLogs { nodes { weight reps date workout { name } } } }';

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  file = exporterOf(fitgraph.url);
  const { id: workout } = (await ann.post('/workout/', { comment: '1.5; a, b' })).body;
  const log = { workout, exercise: 1, date: '2025-01-01', weight: '62.5', reps: 5 };

  await ann.post('/workoutlog/', log);
});

test.each([
  [{}, 'weight,reps,date,workout.name', '62.50,5,2025-01-01,"1.5; a, b"'],
  [{ delimiter: ';' }, 'weight;reps;date;workout.name', '62.50;5;2025-01-01;"1.5; a, b"'],
  [
    { delimiter: ';', decimal: ',' },
    'weight;reps;date;workout.name',
    '62,50;5;2025-01-01;"1.5; a, b"',
  ],
  [{ decimal: ',' }, 'weight,reps,date,workout.name', '"62,50",5,2025-01-01,"1.5; a, b"'],
])('CSV with %j replaces only the decimal points of decimals', async (options, header, line) => {
  expect((await file(ann, { query: LOGS, ...options })).text).toBe(`${header}\r\n${line}\r\n`);
});

test.each([
  [{ delimiter: '|' }, 'delimiter', 'Must be `,` or `;`.'],
  [{ decimal: ';' }, 'decimal', 'Must be `.` or `,`.'],
  [{ bom: 'yes' }, 'bom', 'Must be `0` or `1`.'],
])('CSV with %j is rejected', async (options, name, message) => {
  const { status, error } = await file(ann, { query: LOGS, ...options });

  expect([status, error]).toEqual([
    400,
    {
      message: `Invalid input: ${name}: ${message}`,
      extensions: { code: 'BAD_USER_INPUT', inputErrors: [{ path: [name], message }] },
    },
  ]);
});

test('JSON Lines has no such variants', async () => {
  const { status, error } = await file(ann, { query: LOGS, delimiter: ';' }, 'jsonl');

  expect([status, error!.extensions.inputErrors[0].path]).toEqual([400, ['delimiter']]);
});
