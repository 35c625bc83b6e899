/**
 * Drawings of muscles. The rules are those of test/system/contract/CONTRACT.md, section "muscle".
 */
import { reference } from '../../seeders/reference';
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();
const MUSCLES = '/static/images/muscles';

const get = async (path: string) => {
  const response = await fetch(fitgraph.url + path);

  return {
    status: response.status,
    type: response.headers.get('content-type'),
    text: await response.text(),
  };
};

const paths = (svg: string) =>
  [...svg.matchAll(/<path d="[^"]+" fill="([^"]+)"/g)].map(([, colour]) => colour);

/** Creates a muscle and waits until the server has loaded it. */
async function muscle(
  name: string,
  isFront: boolean,
): Promise<{ image_url_main: string; image_url_secondary: string }> {
  const [row] = await fitgraph.sql(
    'INSERT INTO "muscle" ("name", "is_front") VALUES ($1, $2) RETURNING "id"',
    [name, isFront],
  );

  while ((await get(`${MUSCLES}/main/muscle-${row!.id}.svg`)).status !== 200);
  return (await fitgraph.anonymous.get(`/muscle/${row!.id}/`)).body;
}

const seeded = reference().flatMap(({ model, fields }) =>
  model === 'exercises.muscle'
    ? [[fields.name as string, fields.is_front as boolean] as const]
    : [],
);

test.each(seeded)(
  'draws %s in one colour as a primary muscle and in another as a secondary one',
  async (name, isFront) => {
    const { image_url_main, image_url_secondary } = await muscle(name, isFront);
    const drawings = await Promise.all([get(image_url_main), get(image_url_secondary)]);

    for (const { type, text } of drawings) {
      expect(type).toBe('image/svg+xml; charset=utf-8');
      expect(text).toContain(`<title>${name}, ${isFront ? 'front' : 'back'} of the body</title>`);
      // The colours are those of the body and of the muscle.
      expect(new Set(paths(text)).size).toBe(2);
    }

    expect(paths(drawings[0].text)).not.toEqual(paths(drawings[1].text));
  },
);

test('draws all muscles of an exercise on one body, ignoring invalid ids', async () => {
  const drawing = async (query: string) => (await get(`${MUSCLES}/body.svg${query}`)).text;
  const front = await muscle('Biceps brachii', true);
  const id = /\d+/.exec(front.image_url_main)![0];
  const text = await drawing(`?main=${id}&secondary=2,999999,x`);

  expect(text).toContain('Biceps brachii');
  // The colours are those of the body, of primary muscles and of secondary muscles.
  expect(new Set(paths(text)).size).toBe(3);

  for (const nothing of ['', '?main=', '?main=1&main=2', `?main=${'1,'.repeat(5000)}`]) {
    expect((await get(`${MUSCLES}/body.svg${nothing}`)).status).toBe(200);
  }

  expect(await drawing('')).toContain('<title>Body</title>');
});

test('draws only the body for a muscle added by the operator, and escapes its name', async () => {
  const { image_url_main } = await muscle('<script>&', false);
  const { text } = await get(image_url_main);

  expect(text).toContain('<title>&lt;script>&amp;, back of the body</title>');
  expect(new Set(paths(text)).size).toBe(1);
});

test.each([
  'main/muscle-999.svg',
  'main/muscle-1.png',
  'main/muscle-1',
  'tertiary/muscle-1.svg',
  'constructor/muscle-1.svg',
  'main/muscle-x.svg',
  '',
])('returns 404 for "%s"', async (file) => {
  expect(await get(`${MUSCLES}/${file}`)).toMatchObject({
    status: 404,
    text: '{"detail":"Not found."}',
  });
});
