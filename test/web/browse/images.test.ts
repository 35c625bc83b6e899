/** Uploads by form: files that are too large, and forms with other errors. */
import fs from 'node:fs';
import sharp from 'sharp';
import { formatOfExtension } from '../../../src/files/formats';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { Visitor, type Page } from '../../setup/visitor';

const fitgraph = fitgraphForThisFile({ environment: { MAX_UPLOAD: '20KB', MAX_BODY: '10KB' } });
const LIST = '/api/v2/exerciseimage/';
const KILOBYTE = 1024;

async function upload(
  size: number,
  after: Record<string, string> = {},
  csrfToken?: string,
): Promise<Page> {
  await fitgraph.user('ann');
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });

  await visitor.signIn('ann');
  const form = new FormData();

  form.append('csrfToken', csrfToken ?? (await visitor.csrfToken()));
  form.append('exercise', '3');
  form.append('image', new Blob([new Uint8Array(size)], { type: 'image/png' }), 'large.png');
  for (const [name, value] of Object.entries(after)) form.append(name, value);

  return visitor.send('POST', LIST, form);
}

it('lets browsers offer files of all formats that the server accepts', async () => {
  await fitgraph.user('ann');
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });

  await visitor.signIn('ann');
  const { text } = await visitor.get(LIST);
  const [, accept] = /<input type="file" id="wpost-image"[^>]* accept="([^"]*)"/.exec(text)!;
  const formats = ['avif', 'gif', 'jpeg', 'png', 'tiff', 'webp'];

  expect(accept!.split(',').sort()).toEqual(formats.map((format) => `image/${format}`));
  expect(text).toContain('Accepted formats: JPEG, PNG, GIF, WEBP, TIFF, AVIF.');
  // The help text of the REST API, which the pages show in the JSON of OPTIONS only.
  expect(text.match(/Only PNG and JPEG formats are supported/g)).toHaveLength(1);
});

it('shows an error at the field of a file over the limit, and keeps the other values', async () => {
  const { status, text } = await upload(200 * KILOBYTE, { is_main: 'true' });

  expect(status).toBe(400);
  expect(text).toContain('id="wpost-image-error">The submitted file is larger than 20480 bytes.');
  expect(text).toMatch(/<option value="3" selected>Plank<\/option>/);
  expect(text).toMatch(
    /<input type="checkbox" id="wpost-is_main" name="is_main" value="true" checked/,
  );
  expect(text).toContain('Sign out');
});

it('returns 413 and keeps earlier values when the rest of the form is too large', async () => {
  const { status, text } = await upload(KILOBYTE, { is_main: 'x'.repeat(40 * KILOBYTE) });

  expect(status).toBe(413);
  expect(text).toContain('Request body too large.');
  expect(text).toMatch(/<option value="3" selected>Plank<\/option>/);
});

it('rejects an upload without a CSRF token before its size is checked', async () => {
  expect((await upload(200 * KILOBYTE, {}, 'not the token')).status).toBe(403);
});

it('keeps values but requires the file again after an error in another field', async () => {
  await fitgraph.user('ann');
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });

  await visitor.signIn('ann');
  const create = { width: 40, height: 30, channels: 3, background: '#0b6e4f' } as const;
  const picture = await sharp({ create }).png().toBuffer();

  const send = async (exercise: string, file: Buffer, name: string): Promise<Page> => {
    const form = new FormData();

    form.append('csrfToken', await visitor.csrfToken());
    form.append('exercise', exercise);
    form.append('is_main', 'true');
    // Browsers send a file input that was left empty as a file with an empty name.
    form.append('image', new Blob([new Uint8Array(file)], { type: 'image/png' }), name);
    return visitor.send('POST', LIST, form);
  };

  const rejected = await send('<b>none</b>', picture, 'my bench.png');

  expect(rejected.status).toBe(400);
  expect(rejected.text).toContain('id="wpost-exercise-error"');
  expect(rejected.text).not.toContain('id="wpost-image-error"');
  expect(rejected.text).toContain(
    'Please choose the file again. Browsers do not keep the selection.',
  );
  expect(rejected.text).toMatch(/<option value="&lt;b>none&lt;\/b>" selected>/);
  expect(rejected.text).not.toContain('<b>none');
  expect(rejected.text).toMatch(
    /<input type="checkbox" id="wpost-is_main" name="is_main" value="true" checked/,
  );
  expect(rejected.text).toMatch(/<input type="file" id="wpost-image"[^>]* required/);
  // The folder does not exist, because no file has been stored yet.
  expect(fs.existsSync(fitgraph.mediaFolder)).toBe(false);
  const without = await send('3', Buffer.alloc(0), '');

  expect([without.status, without.text.includes('id="wpost-image-error"')]).toEqual([400, true]);
  const saved = await send('3', picture, 'my bench.png');

  expect(saved.status).toBe(303);
  const { text } = await visitor.get(saved.headers.get('location')!);

  expect(text).toMatch(/\/media\/exercise-images\/\d+\/my_bench[^"]*\.png/);
});

it.each(['jfif', 'jpe', 'tif', 'avif'])(
  'shows the thumbnail of an image that was uploaded as .%s',
  async (extension) => {
    await fitgraph.user('ann');
    const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });

    await visitor.signIn('ann');
    const image = sharp({ create: { width: 40, height: 30, channels: 3, background: '#0b6e4f' } });
    const format = formatOfExtension(extension)!;
    const form = new FormData();

    form.append('csrfToken', await visitor.csrfToken());
    form.append('exercise', '3');
    form.append(
      'image',
      new Blob([new Uint8Array(await image.toFormat(format).toBuffer())]),
      `plank.${extension}`,
    );
    const saved = await visitor.send('POST', LIST, form);

    expect(saved.status).toBe(303);
    const { text } = await visitor.get(saved.headers.get('location')!);
    const [, thumbnail] = /<img class="figure" src="(\/media\/[^"]*plank[^"]*)"/.exec(text)!;

    expect((await fetch(fitgraph.url + thumbnail!)).headers.get('content-type')).toBe('image/jpeg');
  },
);
