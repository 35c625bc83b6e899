/** The time zone and the language of an account: "today" of GraphQL, and times and names of pages. */
import { DateTime } from 'luxon';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { Visitor } from '../setup/visitor';

const fitgraph = fitgraphForThisFile();

/** In these zones it is never the same day. */
const EARLIEST_ZONE = 'Etc/GMT+12';
const LATEST_ZONE = 'Pacific/Kiritimati';
const UPDATE = `mutation ($input: UserProfilePatch!) { made: updateProfile(input: $input) { errors { path message } userProfile { timeZone preferredLanguage { shortName } } } }`;

const dayIn = (zone: string) => DateTime.now().setZone(zone).toISODate()!;

async function personIn(name: string, timeZone: string | null): Promise<Person> {
  const person = await fitgraph.user(name);

  expect((await person.ask(UPDATE, { input: { timeZone } })).made).toMatchObject({
    errors: [],
    userProfile: { timeZone },
  });

  return person;
}

test.each([
  ['early', EARLIEST_ZONE],
  ['late', LATEST_ZONE],
])('takes today in GraphQL from the time zone of the account: %s', async (name, zone) => {
  const person = await personIn(name, zone);
  const { made } = await person.ask(
    'mutation { made: createWorkout(input: { name: "A" }) { workout { createdOn } errors { path message } } }',
  );
  const today = dayIn(zone);

  expect(made).toEqual({ workout: { createdOn: today }, errors: [] });
  const tomorrow = DateTime.fromISO(today).plus({ days: 1 }).toISODate();

  await person.post('/weightentry/', { date: today, weight: 80 });
  await person.post('/weightentry/', { date: tomorrow, weight: 81 });
  expect(await person.ask('{ futureRows { weightEntries } }')).toEqual({
    futureRows: { weightEntries: 1 },
  });
  const { bodyWeightTrend } = await person.ask('{ bodyWeightTrend { date } }');

  expect(bodyWeightTrend).toEqual([{ date: today }]);
});

test('groups by days of the time zone of the account, unless another one is given', async () => {
  const person = await personIn('groups', LATEST_ZONE);
  const eatenAt = '2026-03-01T12:00:00Z';

  await person.ask(
    `mutation ($eatenAt: DateTime!) { createNutritionPlan(input: { diaryEntries: [{ ingredientId: 1, amount: "100", eatenAt: $eatenAt }] }) { errors { path message } } }`,
    { eatenAt },
  );
  const keys = async (options: string) =>
    (
      await person.ask(
        `{ diaryEntriesGrouped(groupBy: [{ eatenAt: { by: DAY${options} } }]) { keys { eatenAtBucket { start } } } }`,
      )
    ).diaryEntriesGrouped;

  expect(JSON.stringify(await keys(''))).toContain('2026-03-01T10:00:00Z');
  expect(JSON.stringify(await keys(', timeZone: "UTC"'))).toContain('2026-03-01T00:00:00Z');
});

test('does not change dates and times of REST', async () => {
  const [early, late] = [
    await personIn('rest-e', EARLIEST_ZONE),
    await personIn('rest-l', LATEST_ZONE),
  ];
  const serverDay = dayIn(fitgraph.services.timeZone);

  for (const person of [early, late]) {
    const { body } = await person.post('/workout/', { name: 'A' });

    expect(body.creation_date).toBe(serverDay);
  }

  expect((await early.get('/userprofile/')).body.results[0]).not.toHaveProperty('time_zone');
});

test.each(['Europe/Nowhere', 'CET', 'IST', '', ' UTC', 'x'.repeat(65)])(
  'rejects the time zone %j',
  async (timeZone) => {
    const person = await fitgraph.user('ann');
    const { made } = await person.ask(UPDATE, { input: { timeZone } });

    expect(made).toMatchObject({ userProfile: null, errors: [{ path: ['input', 'timeZone'] }] });
  },
);

test('shows the times and forms of pages in the time zone of the account, and stores them', async () => {
  const person = await personIn('pages', LATEST_ZONE);
  const planId = (await person.post('/nutritionplan/', {})).body.id;
  const { id } = (
    await person.post('/nutritiondiary/', {
      plan: planId,
      ingredient: 1,
      amount: 1,
      datetime: '2026-03-01T12:30:00Z',
    })
  ).body;
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });

  await visitor.signIn('pages');
  const list = (await visitor.get('/api/v2/nutritiondiary/')).text;

  expect(list).toContain('>2026-03-02 02:30</time>');
  expect(list).toMatch(/<span data-time-zone[^>]*>Pacific\/Kiritimati</);
  expect(list).not.toContain('/pages/times.js');
  const path = `/api/v2/nutritiondiary/${id}/`;
  const page = (await visitor.get(path)).text;

  expect(page).toContain('value="2026-03-02T02:30:00"');
  expect(page).toContain(`In the time zone ${LATEST_ZONE}.`);
  const fields = await visitor.fieldsOf(path, /name="datetime"/);

  await visitor.submit(path, {
    ...fields,
    _method: 'PATCH',
    ingredient: '1',
    amount: '1',
    datetime: '2026-03-02T03:00:00',
  });
  const { eatenAt } = (await person.ask(`{ diaryEntry(id: ${id}) { eatenAt } }`)).diaryEntry;

  expect(eatenAt).toBe('2026-03-01T13:00:00Z');
});

test('finds names in the language of the account on pages before those of the browser', async () => {
  const person = await fitgraph.user('lang');
  const [{ id }] = (await fitgraph.sql(
    `SELECT "id" FROM "language" WHERE "short_name" = 'de'`,
  )) as [{ id: number }];
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html', 'Accept-Language': 'en' });

  await visitor.signIn('lang');

  const planLanguage = async () => {
    const fields = await visitor.fieldsOf('/api/v2/nutritionplan/', /id="wpost-/);

    await visitor.submit('/api/v2/nutritionplan/', { ...fields, description: 'x' });
    const { nutritionPlans } = await person.ask(
      '{ nutritionPlans(orderBy: [{ id: DESC }], first: 1) { nodes { language { shortName } } } }',
    );

    return nutritionPlans.nodes[0].language.shortName;
  };

  expect(await planLanguage()).toBe('en');
  expect(
    (await person.ask(UPDATE, { input: { preferredLanguageId: id } })).made.userProfile
      .preferredLanguage,
  ).toEqual({ shortName: 'de' });
  expect(await planLanguage()).toBe('de');
});

test('loads the preferences without an additional statement', async () => {
  const person = await personIn('count', LATEST_ZONE);
  const other = await fitgraph.user('count-other');

  expect((await person.get('/weightentry/')).statements).toBe(
    (await other.get('/weightentry/')).statements,
  );
});
