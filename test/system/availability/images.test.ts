/** Images that are slow to decode, and many uploads at once. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { childrenOf } from '../../database/processes';
import { difference, photo, plain } from '../../files/pictures';
import { until } from '../../setup/waits';
import { LIVENESS_LIMIT_MS, MEMORY_MB, Siege } from './server-under-attack';

const TIMEOUT_MS = 4_000;

let siege: Siege;
let ann: string;
let bob: string;

beforeAll(async () => {
  siege = await Siege.start({ IMAGE_TIMEOUT: `${TIMEOUT_MS}ms` });
  [ann, bob] = [await siege.user('ann'), await siege.user('bob')];
});
afterAll(() => siege.end());

interface UploadReply {
  status: number;
  retryAfter: string | null;
  body: any;
  ms: number;
}

async function post(path: string, form: FormData, token: string): Promise<UploadReply> {
  const began = performance.now();
  const headers = {
    Authorization: `Token ${token}`,
    Accept: 'application/json',
    'Apollo-Require-Preflight': '1',
  };
  const response = await fetch(siege.base + path, { method: 'POST', headers, body: form });

  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: await response.json(),
    ms: performance.now() - began,
  };
}

const blob = (content: Buffer) => new Blob([new Uint8Array(content)]);

function upload(content: Buffer, name: string, token = ann): Promise<UploadReply> {
  const form = new FormData();

  form.set('exercise', '1');
  form.set('image', blob(content), name);
  return post('/api/v2/exerciseimage/', form, token);
}

function uploadByGraphql(content: Buffer, name: string): Promise<UploadReply> {
  const query = `mutation ($input: ExerciseImageInput!) { made: createExerciseImage(input: $input) { errors { path message } } }`;
  const form = new FormData();

  form.set(
    'operations',
    JSON.stringify({ query, variables: { input: { exerciseId: '1', image: null } } }),
  );
  form.set('map', '{ "0": ["variables.input.image"] }');
  form.set('0', blob(content), name);
  return post('/graphql', form, ann);
}

/** Returns a small AVIF whose header declares this many pixels per side. */
async function declaringSize(side: number): Promise<Buffer> {
  const content = await plain().avif().toBuffer();
  const size = content.indexOf('ispe') + 8;

  content.writeUInt32BE(side, size);
  content.writeUInt32BE(side, size + 4);
  return content;
}

test('rejects an AVIF of 64 megapixels by its header', async () => {
  const content = await declaringSize(8_000);

  await upload(await plain().png().toBuffer(), 'first.png');
  const message = 'Ensure this image has at most 24 megapixels (it has 64).';
  const { result, aliveMs, answerLimitMs, memoryMb } = await siege.measureDuring(async () => [
    await upload(content, 'a.avif'),
    await uploadByGraphql(content, 'a.avif'),
  ]);
  const [rest, graphql] = result as [UploadReply, UploadReply];

  expect([rest.status, rest.body]).toEqual([400, { image: [message] }]);
  expect(graphql.body.data.made.errors).toEqual([{ path: ['input', 'image'], message }]);
  for (const { ms } of result) expect(ms).toBeLessThan(answerLimitMs);
  expect(aliveMs).toBeLessThan(LIVENESS_LIMIT_MS);
  expect(memoryMb).toBeLessThan(MEMORY_MB);
});

test('stores an AVIF as WebP without its metadata', async () => {
  const content = await plain()
    .withExif({ IFD0: { Model: 'a secret camera' } })
    .avif()
    .toBuffer();

  expect(content.includes('secret')).toBe(true);
  const { status, body } = await upload(content, 'exif.avif');

  expect(status).toBe(201);
  expect(body.image).toMatch(/\/exif\.webp$/);
  const answer = await fetch(body.image);

  expect(answer.headers.get('content-type')).toBe('image/webp');
  const storedImage = Buffer.from(await answer.arrayBuffer());

  expect(storedImage.includes('secret')).toBe(false);
  expect((await sharp(storedImage).metadata()).format).toBe('webp');
  expect(await difference(content, storedImage)).toBeLessThan(4);
});

const imageProcesses = () => childrenOf(siege.worker, 'image-worker.js');

test('kills an image process that hangs and accepts the next image', async () => {
  const content = await plain().png().toBuffer();

  expect((await upload(content, 'before.png')).status).toBe(201);
  const [hung] = imageProcesses();

  process.kill(hung!, 'SIGSTOP');
  const { result, aliveMs, answerLimitMs } = await siege.measureDuring(() =>
    upload(content, 'during.png'),
  );

  expect([result.status, result.retryAfter]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  expect(result.ms).toBeLessThan(answerLimitMs + 3 * TIMEOUT_MS);
  expect(aliveMs).toBeLessThan(LIVENESS_LIMIT_MS);
  expect((await upload(content, 'after.png')).status).toBe(201);
  // A killed process needs CPU time to exit, and this one has a low priority.
  await until('the process has ended', () => !imageProcesses().includes(hung!));
});

test('accepts an image after the image processes have been killed', async () => {
  const content = await plain().png().toBuffer();

  expect((await upload(content, 'well.png')).status).toBe(201);
  const killed = imageProcesses();

  for (const pid of killed) process.kill(pid, 'SIGKILL');
  // Before that, the server would attribute their end to the next image.
  await until(
    'the server has been notified',
    () => !killed.some((pid) => existsSync(`/proc/${pid}`)),
  );
  expect((await upload(content, 'again.png')).status).toBe(201);
});

test('serves the upload of another user during ten uploads of one user', async () => {
  const content = await photo(3_000);

  await upload(content, 'warm.jpg');
  const order: string[] = [];
  const { result, aliveMs, memoryMb } = await siege.measureDuring(async () => {
    const many = Array.from({ length: 10 }, async (_, index) => {
      const answer = await upload(content, `photo${index}.jpg`);

      order.push('ann');
      return answer;
    });

    await sleep(100);
    const other = await upload(await plain().png().toBuffer(), 'other.png', bob);

    order.push('bob');
    return [other, ...(await Promise.all(many))];
  });

  for (const { status } of result) expect([201, 503]).toContain(status);
  expect(result[0]!.status).toBe(201);
  expect(order.indexOf('bob')).toBeLessThan(5);
  expect(aliveMs).toBeLessThan(LIVENESS_LIMIT_MS);
  expect(memoryMb).toBeLessThan(MEMORY_MB);
});

test('uses at most two image processes within the memory limit', () => {
  for (const pid of imageProcesses()) {
    expect(
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024,
    ).toBeLessThan(MEMORY_MB);
  }

  expect(imageProcesses().length).toBeLessThanOrEqual(2);
});
