/** Names of time zones mean the same to the server and to PostgreSQL. */
import { IANAZone } from 'luxon';
import { resolveTimeZone } from '../../src/shared/time-zones';
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();

const MOMENTS = ['2020-01-15T12:00:00Z', '2020-07-15T12:00:00Z'];

/** Abbreviations and former links that Node accepts. */
const LEGACY_NAMES =
  'ACT AET AGT ART AST BET BST CAT CET CNT CST CTT EAT ECT EET IET IST JST MET MIT NET NST PLT PNT PRT PST SST VST WET Canada/East-Saskatchewan SystemV/AST4ADT SystemV/HST10 US/Pacific-New'.split(
    ' ',
  );

test('every accepted name has the same offsets in Node and in PostgreSQL', async () => {
  const names = (
    await fitgraph.sql(
      'SELECT "name" FROM pg_timezone_names UNION SELECT "abbrev" FROM pg_timezone_abbrevs',
    )
  ).map(({ name }) => name as string);
  const zones = [
    ...new Set([...names, ...LEGACY_NAMES].flatMap((name) => resolveTimeZone(name) ?? [])),
  ];

  expect(zones.length).toBeGreaterThan(400);
  const offsets = await fitgraph.sql(
    `SELECT z AS "zone", m AS "moment", extract(epoch FROM (m::timestamptz AT TIME ZONE z) - (m::timestamptz AT TIME ZONE 'UTC'))::int / 60 AS "offset"
      FROM unnest($1::text[]) z, unnest($2::text[]) m`,
    [zones, MOMENTS],
  );

  expect(
    offsets.filter(
      ({ zone, moment, offset }) => IANAZone.create(zone).offset(Date.parse(moment)) !== offset,
    ),
  ).toEqual([]);
});

test.each([
  'Europe/Berlin',
  'America/Argentina/Buenos_Aires',
  'Etc/GMT+5',
  'UTC',
  'GMT',
  'EST5EDT',
  'Japan',
  'GB',
  'PRC',
])('%s is accepted', (name) => expect(resolveTimeZone(name)).toBe(name));

test.each(['IST', 'pst', 'AET', 'Mars/Olympus', '', 'Europe/Berlin; SELECT', 'x'.repeat(100)])(
  '"%s" is rejected',
  (name) => expect(resolveTimeZone(name)).toBeUndefined(),
);

test('a zone is that of the IANA database where PostgreSQL reads its name as an abbreviation', async () => {
  const ann = await fitgraph.user('ann');
  const plan = (
    await ann.ask(
      'mutation { made: createNutritionPlan(input: { name: "p" }) { nutritionPlan { id } } }',
    )
  ).made.nutritionPlan.id;

  await ann.ask(
    `mutation { createDiaryEntry(input: { planId: ${plan}, ingredientId: 1, amount: "100", eatenAt: "2021-07-01T22:30:00Z" }) { errors { path } } }`,
  );
  const { intake, grouped } = await ann.ask(`{
    intake: nutritionIntake(timeZone: "CET", from: "2021-01-01") { bucket { start } }
    grouped: diaryEntriesGrouped(groupBy: [{ eatenAt: { by: DAY, timeZone: "CET" } }]) { keys { eatenAtBucket { start } } }
  }`);

  expect(intake).toEqual([{ bucket: { start: '2021-07-02' } }]);
  expect(grouped).toEqual([{ keys: { eatenAtBucket: { start: '2021-07-01T22:00:00Z' } } }]);
});
