/**
 * `/media/`: media types, ranges, caching, and thumbnails that are created by their first request.
 */
import { writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import { IMAGE_FORMATS, type ImageFormatName } from '../../src/files/formats';
import { fitgraphForThisFile } from '../setup/fitgraph';
import { plain } from './pictures';
import { PLACES, type Place } from './stores';

const FOLDER = 'exercise-images/1';

describe.each(PLACES)('/media/ in %s', (_where, start) => {
  let place: Place;
  const fitgraph = fitgraphForThisFile(async () => {
    place = await start();
    return { environment: place.environment };
  });

  afterAll(() => place.end());
  const files = () => fitgraph.services.media.files;
  const put = (name: string, content: Buffer) =>
    files().write(`${FOLDER}/${name}`, (at) => writeFile(at, content));
  const ask = (name: string, headers: Record<string, string> = {}, method = 'GET') =>
    // Overrides `Cache-Control: no-cache`, which fetch adds to conditional requests and which would
    // prevent 304.
    fetch(`${fitgraph.url}/media/${FOLDER}/${name}`, {
      method,
      headers: { 'Cache-Control': 'max-age=0', ...headers },
    });

  let picture: Buffer;

  beforeAll(async () => {
    picture = await plain(600, 400).png().toBuffer();
    await put('a.png', picture);
  });

  test.each(Object.keys(IMAGE_FORMATS) as ImageFormatName[])(
    'sends the media type of a %s file',
    async (format) => {
      await put(`of.${format}`, await plain().toFormat(format).toBuffer());
      expect((await ask(`of.${format}`)).headers.get('content-type')).toBe(`image/${format}`);
    },
  );

  test('is immutable for caches and returns 304 for matching conditional requests', async () => {
    const answer = await ask('a.png');

    expect(Buffer.from(await answer.arrayBuffer())).toEqual(picture);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    // Sent to all clients, because a cached response may be requested by a page of any origin.
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    const [etag, modified] = [answer.headers.get('etag')!, answer.headers.get('last-modified')!];

    expect((await ask('a.png', { 'If-None-Match': etag })).status).toBe(304);
    expect((await ask('a.png', { 'If-Modified-Since': modified })).status).toBe(304);
    expect((await ask('a.png', { 'If-None-Match': '"other"' })).status).toBe(200);
  });

  test('returns the length of the whole file for HEAD', async () => {
    const answer = await ask('a.png', {}, 'HEAD');

    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([
      200,
      String(picture.length),
      '',
    ]);
  });

  test.each([
    ['bytes=0-9', 0, 10],
    ['bytes=10-', 10, undefined],
    ['bytes=-5', -5, undefined],
  ])('returns 206 for the range %s', async (Range, start, end) => {
    const answer = await ask('a.png', { Range });

    expect(answer.status).toBe(206);
    const part = picture.subarray(start, end);

    expect(Buffer.from(await answer.arrayBuffer())).toEqual(part);
    const first = start < 0 ? picture.length + start : start;

    expect(answer.headers.get('content-range')).toBe(
      `bytes ${first}-${first + part.length - 1}/${picture.length}`,
    );
  });

  test('returns 416 as uncacheable JSON for a range beyond the end', async () => {
    const answer = await ask('a.png', { Range: 'bytes=99999999-' });

    expect(answer.status).toBe(416);
    expect(answer.headers.get('content-range')).toBe(`bytes */${picture.length}`);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(
      ['cache-control', 'etag', 'last-modified'].map((name) => answer.headers.get(name)),
    ).toEqual([null, null, null]);
    expect(await answer.json()).toEqual({ detail: expect.any(String) });
  });

  test('returns 405 for methods other than GET and HEAD', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await ask('a.png', {}, method);

      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
  });

  test('creates no thumbnails of thumbnails', async () => {
    await put('chain.png', picture);
    const names = [
      'chain.png.400x400_q85.jpg',
      'chain.png.400x400_q85.jpg.80x80_q85.jpg',
      'chain.png.400x400_q85.jpg.80x80_q85_crop-smart.png',
    ];
    const statuses: number[] = [];

    for (const name of names) statuses.push((await ask(name)).status);
    expect(statuses).toEqual([200, 404, 404]);
    expect(
      (await files().listFiles(FOLDER)).filter((name) => name.startsWith('chain')).sort(),
    ).toEqual(['chain.png', names[0]]);
  });

  test('creates thumbnails of an image that is named like a thumbnail of a missing image', async () => {
    await put('missing.png.400x400_q85.jpg', picture);
    expect((await ask('missing.png.400x400_q85.jpg.80x80_q85.jpg')).status).toBe(200);
  });

  test('creates a thumbnail once for concurrent first requests and keeps it', async () => {
    const name = 'a.png.200x200_q85_crop-smart.jpg';

    expect(await files().listFiles(FOLDER)).not.toContain(name);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(name)));

    for (const answer of answers) {
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
      const { width, height } = await sharp(Buffer.from(await answer.arrayBuffer())).metadata();

      expect([width, height]).toEqual([200, 200]);
    }

    expect((await files().listFiles(FOLDER)).filter((file) => file.startsWith('a.png.'))).toEqual([
      name,
    ]);
    const made = await files().stat(`${FOLDER}/${name}`);

    await ask(name);
    expect(await files().stat(`${FOLDER}/${name}`)).toEqual(made);
  });

  test.each(['b.png', 'b.png.200x200_q85.jpg', 'a.png.201x201_q85.jpg', 'a.png.200x200_q85.png'])(
    'returns 404 for %s',
    async (name) => {
      const answer = await ask(name);

      expect([answer.status, await answer.json()]).toEqual([404, { detail: 'Not found.' }]);
      expect(answer.headers.get('cache-control')).toBeNull();
    },
  );

  test('returns a range only when If-Range matches, else the whole file', async () => {
    const [etag, modified] = ['etag', 'last-modified'].map(
      (name) => [name, ask('a.png', {}, 'HEAD')] as const,
    );
    const known = await Promise.all(
      [etag!, modified!].map(async ([name, answer]) => (await answer).headers.get(name)!),
    );
    const strong = known.filter((one) => !one.startsWith('W/'));

    // A weak ETag never matches If-Range.
    expect(strong.length).toBeGreaterThan(0);

    for (const one of strong) {
      expect((await ask('a.png', { Range: 'bytes=0-9', 'If-Range': one })).status).toBe(206);
    }

    expect((await ask('a.png', { Range: 'bytes=0-9', 'If-Range': '"other"' })).status).toBe(200);
  });
});
