/**
 * Texts on the page of a row: HTML of the catalogue becomes plain text, texts of users are shown as
 * they are.
 */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { Visitor } from '../../setup/visitor';

const fitgraph = fitgraphForThisFile();

const fact = (html: string, label: string) =>
  new RegExp(`<dt>${label}</dt><dd>(.*?)</dd>`, 's').exec(html)?.[1];

it('shows a text of a user completely, even if parts of it look like HTML', async () => {
  const ann = await fitgraph.user('ann');
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });

  await visitor.signIn('ann');
  const workout = (await ann.post('/workout/', {})).body.id;
  const notes = 'Use <bands>, then 5 <b and c> 4 &amp; rest';
  const { id } = (await ann.post('/workoutsession/', { workout, date: '2025-01-01', notes })).body;
  const { text } = await visitor.get(`/api/v2/workoutsession/${id}/`);

  expect(fact(text, 'Notes')).toBe('Use &lt;bands>, then 5 &lt;b and c> 4 &amp;amp; rest');
});

it('shows the HTML of a description as plain text', async () => {
  const description =
    '<p>Stand <b class="x">up</b>.</p><ul><li>Lift &amp; hold</li><li>Lower<br/>slowly, 1 <2</li></ul>';
  const describeExercise = `UPDATE "exercise" SET "description" = $1 WHERE "id" = (SELECT min("id") FROM "exercise" WHERE "status" = '2') RETURNING "id"`;
  const [{ id }] = (await fitgraph.sql(describeExercise, [description])) as [{ id: number }];
  const { text } = await new Visitor(fitgraph.url, { Accept: 'text/html' }).get(
    `/api/v2/exercise/${id}/`,
  );

  expect(fact(text, 'Description')).toBe('Stand up.\nLift &amp; hold\nLower\nslowly, 1 &lt;2');
});
