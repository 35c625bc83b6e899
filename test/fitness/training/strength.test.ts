/** DOTS points, checked against published figures. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { BENCH, LB, PLANK, SQUAT, train } from '../training-data';

const fitgraph = fitgraphForThisFile();

const FEMALE = '2';
const TABLE: [
  who: string,
  body: string,
  weights: [string, string, string],
  gender: string | undefined,
  dots: string,
][] = [
  ['a man of 93 kg who lifts 700 kg', '93.00', ['260.00', '170.00', '270.00'], undefined, '445.38'],
  ['a woman of 63 kg who lifts 400 kg', '63.00', ['150.00', '90.00', '160.00'], FEMALE, '430.21'],
  [
    'a man below the minimum body weight',
    '35.00',
    ['100.00', '50.00', '150.00'],
    undefined,
    '381.33',
  ],
  [
    'a man above the maximum body weight',
    '230.00',
    ['260.00', '170.00', '270.00'],
    undefined,
    '346.93',
  ],
];

const STRENGTH = `query ($gender: Gender, $estimated: Boolean! = false) { strength(gender: $gender, estimated: $estimated, unit: KG) { total date bodyWeight dots } }`;

test.each(TABLE)(
  'computes the DOTS points of %s',
  async (who, body, [squat, bench, deadlift], gender, dots) => {
    const person = await fitgraph.user(who.replace(/\W/g, ''));

    await person.post('/weightentry/', { date: '2021-03-08', weight: body });
    const { viewer } = await person.ask('{ viewer { profile { id } } }');

    if (gender) await person.patch(`/userprofile/${viewer.profile.id}/`, { gender });
    await train(person, [
      { date: '2021-03-01', reps: 1, weight: squat, exercise: SQUAT },
      { date: '2021-03-09', reps: 1, weight: bench, exercise: BENCH },
      { date: '2021-03-10', reps: 8, weight: '20.00', exercise: BENCH },
      { date: '2021-03-05', reps: 1, weight: deadlift, exercise: PLANK },
    ]);
    const total = [squat, bench, deadlift]
      .reduce((sum, weight) => sum + Number(weight), 0)
      .toFixed(2);

    expect((await person.ask(STRENGTH)).strength).toEqual({
      total,
      date: '2021-03-09',
      bodyWeight: body,
      dots,
    });
  },
);

test('computes an estimated total of selected exercises in pounds, and null without logs', async () => {
  const ann = await fitgraph.user('ann');

  expect((await ann.ask('{ strength { total } }')).strength).toBeNull();
  await train(ann, [
    { reps: 5, weight: '100.00' },
    { reps: 5, weight: '100.00', exercise: BENCH, weight_unit: LB },
  ]);
  const { strength } = await ann.ask(
    '{ strength(where: { exerciseId: { eq: 1 } }, estimated: true, unit: LB, gender: FEMALE) { total bodyWeight dots } }',
  );

  expect(strength).toEqual({ total: '257.21', bodyWeight: null, dots: null });
});

test('uses the weight entry nearest to the last lift', async () => {
  const eve = await fitgraph.user('eve');

  for (const [date, weight] of [
    ['2021-03-01', '70.00'],
    ['2021-03-10', '93.00'],
    ['2021-06-01', '120.00'],
  ]) {
    await eve.post('/weightentry/', { date, weight });
  }

  await train(eve, [{ date: '2021-03-09', reps: 1, weight: '700.00' }]);
  expect((await eve.ask(STRENGTH)).strength).toEqual({
    total: '700.00',
    date: '2021-03-09',
    bodyWeight: '93.00',
    dots: '445.38',
  });
});
