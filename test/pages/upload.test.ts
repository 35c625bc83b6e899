/** Uploads by form: those that are too large, and those beside a mistake. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import sharp from 'sharp';
import { fitgraphForThisFile } from '../setup/fitgraph';
import { randomFor, seeded } from '../setup/random';
import { Visitor, type Page } from './visitor';

const fitgraph = fitgraphForThisFile({ environment: { MAX_UPLOAD: '20KB', MAX_BODY: '10KB', KEPT_UPLOADS: '20KB' } });
const LIST = '/api/v2/exerciseimage/';
const KILOBYTE = 1024;

async function uploaded(size: number, after: Record<string, string> = {}, csrfToken?: string): Promise<Page> {
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

it('a file over the limit is said at its field, and what was typed before and after it stays', async () => {
  const { status, text } = await uploaded(200 * KILOBYTE, { is_main: 'true' });
  expect(status).toBe(400);
  expect(text).toContain('id="wpost-image-error">The submitted file is larger than 20480 bytes.');
  expect(text).toMatch(/<option value="3" selected>Plank<\/option>/);
  expect(text).toMatch(/<input type="checkbox" id="wpost-is_main" name="is_main" value="true" checked/);
  expect(text).toContain('Sign out');
});

it('so it is where the rest of the form is what is too large', async () => {
  const { status, text } = await uploaded(KILOBYTE, { is_main: 'x'.repeat(40 * KILOBYTE) });
  expect(status).toBe(413);
  expect(text).toContain('Request body too large.');
  expect(text).toMatch(/<option value="3" selected>Plank<\/option>/);
});

it('nothing is looked at without the token of the form', async () => {
  expect((await uploaded(200 * KILOBYTE, {}, 'not the token')).status).toBe(403);
});

describe('a file survives a mistake beside it', () => {
  const HANDLE = /name="_unsent_image" value="([^"]+)"/;
  let picture: Buffer;
  beforeAll(async () => {
    const create = { width: 40, height: 30, channels: 3, background: '#0b6e4f' } as const;
    picture = await sharp({ create }).png().toBuffer();
  });

  async function signedIn(username: string): Promise<Visitor> {
    await fitgraph.user(username);
    const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });
    await visitor.signIn(username);
    return visitor;
  }

  async function send(visitor: Visitor, fields: Record<string, string>, file: Buffer = Buffer.alloc(0), name = ''): Promise<Page> {
    const form = new FormData();
    form.append('csrfToken', await visitor.csrfToken());
    for (const [key, value] of Object.entries(fields)) form.append(key, value);
    // So browsers send an input that was left empty.
    form.append('image', new Blob([new Uint8Array(file)], { type: 'image/png' }), name);
    return visitor.send('POST', LIST, form);
  }

  const kept = () =>
    fs.readdirSync(fitgraph.mediaFolder, { recursive: true }).filter((name) => /^\.unsent-\d+\/\d+-\d+$/.test(String(name)));

  it('it is sent with the form that is sent again, and let go of then', async () => {
    const ann = await signedIn('ann');
    const refused = await send(ann, { exercise: '' }, picture, 'my bench.png');
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('<strong>my bench.png</strong> will be saved.');
    expect(refused.text).toMatch(/<input type="file" id="wpost-image"(?![^>]* required)[^>]*>/);
    const again = await send(ann, { exercise: 'no such', _unsent_image: HANDLE.exec(refused.text)![1]! });
    expect(again.status).toBe(400);
    expect(kept()).toHaveLength(1);
    const handle = HANDLE.exec(again.text)![1]!;
    const saved = await send(ann, { exercise: '3', _unsent_image: handle });
    expect(saved.status).toBe(201);
    expect(saved.text).toMatch(/\/media\/exercise-images\/\d+\/my_bench[^"]*\.png/);
    expect(kept()).toEqual([]);
    // They go once the answers are out.
    while (fs.readdirSync(path.join(fitgraph.mediaFolder, '../incoming')).length) await setTimeout(20);
    // What was let go of is gone.
    expect((await send(ann, { exercise: '3', _unsent_image: handle })).text).toContain('id="wpost-image-error"');
  });

  it('another file that is chosen takes its place', async () => {
    const ann = await signedIn('ann');
    const { text } = await send(ann, { exercise: '' }, picture, 'one.png');
    const saved = await send(ann, { exercise: '3', _unsent_image: HANDLE.exec(text)![1]! }, picture, 'other.png');
    expect(saved.status).toBe(201);
    expect(saved.text).toContain('other.png');
    expect(saved.text).not.toContain('one.png');
  });

  it('nobody else can name it, and each has room for one', async () => {
    const [ann, bob] = [await signedIn('ann'), await signedIn('bob')];
    const larger = await sharp(picture).resize(60).png().toBuffer();
    const first = HANDLE.exec((await send(ann, { exercise: '' }, picture, 'a.png')).text)![1]!;
    for (const handle of [first, `${first.slice(0, -4)}AAAA`, 'x', 'y'.repeat(5000)]) {
      const { status, text } = await send(bob, { exercise: '3', _unsent_image: handle });
      expect([status, text.includes('id="wpost-image-error"')]).toEqual([400, true]);
    }
    const second = HANDLE.exec((await send(ann, { exercise: '' }, larger, 'b.png')).text)![1]!;
    expect(kept()).toHaveLength(1);
    expect((await fetch(`${fitgraph.url}/media/${String(kept()[0])}`)).status).toBe(404);
    expect((await send(ann, { exercise: '3', _unsent_image: first })).text).toContain('id="wpost-image-error"');
    expect((await send(ann, { exercise: '3', _unsent_image: second })).status).toBe(201);
  });

  it(seeded('all of them together take no more room than there is, and one that is let go of makes room'), async () => {
    const raw = { width: 60, height: 60, channels: 3 } as const;
    const noise = await sharp(randomFor('pixels').bytes(60 * 60 * 3), { raw })
      .png()
      .toBuffer();
    expect(noise.length).toBeGreaterThan(10 * KILOBYTE);
    const [ann, bob] = [await signedIn('ann'), await signedIn('bob')];
    const first = await send(ann, { exercise: '' }, noise, 'a.png');
    const second = await send(bob, { exercise: '' }, noise, 'b.png');
    expect([first, second].map(({ status, text }) => [status, HANDLE.test(text)])).toEqual([
      [400, true],
      [400, false],
    ]);
    // Her own is no obstacle to her.
    expect((await send(ann, { exercise: '' }, noise, 'c.png')).text).toMatch(HANDLE);
    expect(kept()).toHaveLength(1);
    expect((await send(ann, { exercise: '3', _unsent_image: HANDLE.exec(first.text)![1]! })).status).toBe(201);
    const third = await send(bob, { exercise: '' }, noise, 'b.png');
    expect(third.text).toMatch(HANDLE);
    expect((await send(bob, { exercise: '3', _unsent_image: HANDLE.exec(third.text)![1]! })).status).toBe(201);
  });

  it('what is no picture is not kept, nor what comes without the token of the form', async () => {
    const before = kept();
    const ann = await signedIn('ann');
    const { status, text } = await send(ann, { exercise: '' }, Buffer.from('no picture'), 'a.png');
    expect([status, HANDLE.test(text)]).toEqual([400, false]);
    const form = new FormData();
    form.append('csrfToken', 'not the token');
    form.append('image', new Blob([new Uint8Array(picture)], { type: 'image/png' }), 'a.png');
    expect((await ann.send('POST', LIST, form)).status).toBe(403);
    expect(kept()).toEqual(before);
  });
});
