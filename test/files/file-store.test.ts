/** Uploaded files of two instances that share a folder or a bucket. */
import fs from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../src/shared/config';
import { thumbnailPath } from '../../src/files/paths';
import { Fitgraph } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { plain } from './pictures';
import { PLACES, type Place } from './stores';
import { until } from '../setup/waits';

describe.each(PLACES)('two instances that share %s', (where, start) => {
  let place: Place;
  let one: Fitgraph;
  let two: Fitgraph;
  let ann: Person;
  let picture: Buffer;

  beforeAll(async () => {
    place = await start();
    one = await Fitgraph.start({ environment: place.environment });
    two = await Fitgraph.start({ sameDatabaseAs: one, environment: place.environment });
    ann = await one.user('ann');
    picture = await plain(300, 200).png().toBuffer();
  });
  afterAll(async () => {
    await two.stop();
    await one.stop();
    await place.end();
  });

  /** Uploads an image; returns its id and its path. */
  async function upload(at: Fitgraph): Promise<{ id: string; image: string }> {
    const form = new FormData();

    form.set('exercise', '2');
    form.set('image', new Blob([new Uint8Array(picture)], { type: 'image/png' }), 'same.png');
    const { status, body } = await ann
      .atInstance(at.url)
      .send('POST', '/api/v2/exerciseimage/', form);

    expect({ status, body }).toMatchObject({ status: 201 });
    return { id: String(body.id), image: new URL(body.image).pathname };
  }

  const get = async (at: Fitgraph, image: string) => {
    const response = await fetch(at.url + image);

    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  test('serve the uploads and thumbnails of each other', async () => {
    const { image } = await upload(one);

    for (const at of [one, two]) {
      expect(await get(at, image)).toEqual({ status: 200, bytes: picture });
    }

    const thumbnail = thumbnailPath(image, 'micro', false);
    const [first, second] = [await get(one, thumbnail), await get(two, thumbnail)];

    expect(first.status).toBe(200);
    expect(second).toEqual(first);
    expect(await two.services.media.exists(thumbnail.replace('/media/', ''))).toBe(true);
  });

  test('choose different names for concurrent uploads of the same name', async () => {
    const images = await Promise.all([one, two, one, two, one, two].map(upload));

    expect(new Set(images.map(({ image }) => image)).size).toBe(6);

    for (const { image } of images) {
      for (const at of [one, two]) expect((await get(at, image)).bytes).toEqual(picture);
    }
  });

  test('both return 404 after one of them has deleted an image', async () => {
    const { id, image } = await upload(one);

    expect((await get(two, image)).status).toBe(200);
    await ann
      .atInstance(two.url)
      .ask(`mutation { deleteExerciseImage(id: "${id}") { deletedIds } }`);
    await until(
      'the image is deleted on both instances',
      async () => (await get(one, image)).status === 404 && (await get(two, image)).status === 404,
    );
  });

  if (where === 'a folder') {
    test('keep the mode of the folder and create only the image folder in it', () => {
      expect(fs.statSync(place.folder).mode & 0o777).toBe(0o750);
      expect(fs.readdirSync(place.folder)).toEqual(['exercise-images']);
    });
  }
});

test.each([
  ['that does not exist', path.join(__dirname, 'nowhere')],
  ['that is a file', __filename],
])('rejects a MEDIA_DIR %s at start without creating it', async (_what, MEDIA_DIR) => {
  const starting = Fitgraph.start({ environment: { MEDIA_DIR } });

  await expect(starting).rejects.toThrow(ConfigError);
  await expect(starting).rejects.toThrow('MEDIA_DIR');
  expect(fs.existsSync(path.join(__dirname, 'nowhere'))).toBe(false);
});
