/** What one chooses from: an enum in GraphQL, the stored texts in REST. */
import { isEnumType, isNonNullType } from 'graphql';
import { fieldsOf } from '../../src/core/model/fields';
import { entities } from '../../src/core/model/registry';
import { buildGraphQLSchema, buildRestSchema } from '../../src/graphql/schema';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';

const fitgraph = fitgraphForThisFile();
const schema = buildGraphQLSchema();
let ann: Person;
let workoutId: string;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  workoutId = String((await ann.post('/workout/', {})).body.id);
});

const CREATE_SESSION = `mutation ($input: WorkoutSessionInput!) {
  made: createWorkoutSession(input: $input) { workoutSession { id impression } errors { path message } } }`;
const CREATE_LOG = `mutation ($input: WorkoutLogInput!) {
  made: createWorkoutLog(input: $input) { workoutLog { id rir } errors { path message } } }`;

test('every choice is an enum with described values, in types, inputs and conditions; REST has none', () => {
  const choices = entities().flatMap((entity) =>
    fieldsOf(entity)
      .filter(({ kind }) => kind === 'choice')
      .map((field) => ({ entity, field })),
  );
  expect(choices.length).toBeGreaterThanOrEqual(12);
  for (const { entity, field } of choices) {
    const type = schema.getType(field.enum!.name);
    expect(isEnumType(type)).toBe(true);
    for (const suffix of ['', 'Input', 'Patch']) {
      const holder: any = schema.getType(`${entity.name}${suffix}`);
      const shown = holder?.getFields()[field.name]?.type;
      if (shown) expect(isNonNullType(shown) ? shown.ofType : shown).toBe(type);
    }
    const where: any = schema.getType(`${entity.name}Where`);
    if (where) expect(String(where.getFields()[field.name].type)).toBe(`${field.enum!.name}Filter`);
    expect(isEnumType(buildRestSchema().getType(field.enum!.name))).toBe(false);
  }
});

test('is named in GraphQL, given, stored, shown and found, and is as it was in REST', async () => {
  const { made } = await ann.ask(CREATE_SESSION, { input: { workoutId, date: '2021-03-10', impression: 'GOOD' } });
  expect(made).toEqual({ workoutSession: { id: expect.any(String), impression: 'GOOD' }, errors: [] });
  const path = `/workoutsession/${made.workoutSession.id}/`;
  expect((await ann.get(path)).body.impression).toBe('3');
  expect((await ann.patch(path, { impression: '1' })).body.impression).toBe('1');
  const { bad, good, some } = await ann.ask(`{
    bad: workoutSessions(where: { impression: { eq: BAD } }) { nodes { id impression } }
    good: workoutSessions(where: { impression: { in: [GOOD, NEUTRAL] } }) { totalCount }
    some: workoutSession(id: ${made.workoutSession.id}) { impression } }`);
  expect([bad.nodes, good.totalCount, some]).toEqual([[{ id: made.workoutSession.id, impression: 'BAD' }], 0, { impression: 'BAD' }]);
});

test('what is stored is no value of GraphQL, and a name is none of REST', async () => {
  const { errors } = await ann.query(CREATE_SESSION, { input: { workoutId, date: '2021-03-11', impression: '3' } });
  expect(errors![0]!.extensions).toEqual({
    code: 'BAD_USER_INPUT',
    fields: { impression: [expect.stringMatching(/"3" does not exist in "WorkoutImpression"/)] },
  });
  const refused = await ann.post('/workoutsession/', { workout: Number(workoutId), date: '2021-03-11', impression: 'GOOD' });
  expect([refused.status, refused.body]).toEqual([400, { impression: ['"GOOD" is not a valid choice.'] }]);
});

test('left blank in REST it is null in GraphQL, among conditions too', async () => {
  const log = { reps: 1, weight: '10', date: '2021-03-10', exercise: 1, workout: Number(workoutId) };
  const ids: Record<string, string> = {};
  for (const rir of ['', null, '2.5']) ids[String(rir)] = String((await ann.post('/workoutlog/', { ...log, rir })).body.id);
  expect((await ann.get(`/workoutlog/${ids['']}/`)).body.rir).toBe('');
  const page = (where: object) =>
    ann.ask('query ($where: WorkoutLogWhere) { page: workoutLogs(where: $where, orderBy: [{ id: ASC }]) { nodes { id rir } } }', { where });
  const nodes = [
    { id: ids[''], rir: null },
    { id: ids.null, rir: null },
    { id: ids['2.5'], rir: 'RIR_2_5' },
  ];
  expect((await page({})).page.nodes).toEqual(nodes);
  expect((await page({ rir: { isNull: true } })).page.nodes).toEqual(nodes.slice(0, 2));
  expect((await page({ rir: { eq: null } })).page.nodes).toEqual(nodes.slice(0, 2));
  expect((await page({ rir: { isNull: false } })).page.nodes).toEqual(nodes.slice(2));
  expect((await page({ rir: { ne: 'RIR_2_5' } })).page.nodes).toEqual(nodes.slice(0, 2));
  const { made } = await ann.ask(CREATE_LOG, {
    input: { reps: 1, weight: '10', date: '2021-03-10', exerciseId: 1, workoutId, rir: 'RIR_0' },
  });
  expect([made.workoutLog.rir, (await ann.get(`/workoutlog/${made.workoutLog.id}/`)).body.rir]).toEqual(['RIR_0', '0']);
});

test('the profile says its choices by their names, and takes null where there may be none', async () => {
  const { viewer } = await ann.ask('{ viewer { profile { id gender workIntensity sportIntensity unitSystem } } }');
  expect(viewer.profile).toMatchObject({ gender: 'MALE', workIntensity: 'LOW', sportIntensity: 'MEDIUM', unitSystem: 'METRIC' });
  const { update } = await ann.ask(
    `mutation ($input: UserProfilePatch!) { update: updateProfile(input: $input) {
      userProfile { gender workIntensity unitSystem } errors { path } } }`,
    { input: { gender: null, workIntensity: 'HIGH', unitSystem: 'IMPERIAL' } },
  );
  expect(update).toEqual({ userProfile: { gender: null, workIntensity: 'HIGH', unitSystem: 'IMPERIAL' }, errors: [] });
  const [profile] = (await ann.get('/userprofile/')).body.results;
  expect(profile).toMatchObject({ gender: null, work_intensity: '3', weight_unit: 'lb' });
});
