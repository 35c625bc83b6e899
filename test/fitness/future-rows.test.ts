/** Rows dated after today: counted in GraphQL, and named below the charts of pages. */
import { addDays } from '../../seeders/dates';
import { TIME_ZONE } from '../setup/databases';
import { fitgraphForThisFile } from '../setup/fitgraph';
import { todayIn } from '../../src/engine/declare/clock';
import { Visitor } from '../setup/visitor';
import { train } from './training-data';

const fitgraph = fitgraphForThisFile();
const today = todayIn(TIME_ZONE);
const COUNTS = '{ futureRows { weightEntries workoutLogs workoutSessions diaryEntries } }';
const NONE = { weightEntries: 0, workoutLogs: 0, workoutSessions: 0, diaryEntries: 0 };

test('are counted for their owner, from tomorrow on', async () => {
  const ann = await fitgraph.user('ann');

  expect((await ann.ask(COUNTS)).futureRows).toEqual(NONE);

  for (const date of [today, addDays(today, 1), '2062-03-01']) {
    await ann.post('/weightentry/', { date, weight: '80' });
    await train(ann, [{ date, reps: 5, weight: '50.00' }]);
  }

  const plan = (await ann.post('/nutritionplan/', {})).body.id;

  for (const date of [today, addDays(today, 1)]) {
    await ann.post('/nutritiondiary/', {
      plan,
      ingredient: 1,
      amount: '1',
      datetime: `${date}T00:00:00`,
    });
  }

  expect((await ann.ask(COUNTS)).futureRows).toEqual({
    ...NONE,
    weightEntries: 2,
    workoutLogs: 2,
    diaryEntries: 1,
  });
  expect((await (await fitgraph.user('bob')).ask(COUNTS)).futureRows).toEqual(NONE);
  const anonymous = await fitgraph.anonymous.query(COUNTS);

  expect([anonymous.code, anonymous.data.futureRows.weightEntries]).toEqual([
    'UNAUTHENTICATED',
    null,
  ]);
});

test('change no record, strength and ranking of foods unless `until` includes them', async () => {
  const dan = await fitgraph.user('dan');

  await train(dan, [
    { date: '2021-03-08', reps: 5, weight: '100.00' },
    { date: '2062-03-01', reps: 5, weight: '200.00' },
  ]);
  await dan.post('/weightentry/', { date: '2021-03-08', weight: '80' });
  const plan = (await dan.post('/nutritionplan/', {})).body.id;

  for (const datetime of [`${today}T23:59:59`, `${addDays(today, 1)}T00:00:00`]) {
    await dan.post('/nutritiondiary/', { plan, ingredient: 1, amount: '100', datetime });
  }

  const analyses = async (until: string) =>
    dan.ask(`{
      personalRecords(standing: true, kinds: [WEIGHT]${until}) { date value }
      strength${until && `(${until})`} { date total }
      topFoods${until && `(${until})`} { grams }
    }`);

  expect(await analyses('')).toEqual({
    personalRecords: [{ date: '2021-03-08', value: '100.00' }],
    strength: { date: '2021-03-08', total: '100.00' },
    topFoods: [{ grams: '100.00' }],
  });
  expect(await analyses('until: "2062-12-31"')).toEqual({
    personalRecords: [{ date: '2062-03-01', value: '200.00' }],
    strength: { date: '2062-03-01', total: '200.00' },
    topFoods: [{ grams: '200.00' }],
  });
});

test('do not remove the chart of a page, which says that they are not drawn', async () => {
  const eve = await fitgraph.user('eve');
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });

  await visitor.signIn('eve');

  for (const day of [-2, -1]) {
    await eve.post('/weightentry/', { date: addDays(today, day), weight: `${80 + day}` });
  }

  const { text } = await visitor.get('/api/v2/weightentry/');

  expect(text).toContain('<figure class="chart">');
  expect(text).not.toContain('dated after today');
  await eve.post('/weightentry/', { date: '2062-03-01', weight: '70' });
  const withFuture = (await visitor.get('/api/v2/weightentry/')).text;

  expect(withFuture).toContain('<figure class="chart">');
  expect(withFuture).toContain('Rows dated after today, which are not drawn: 1');
});
