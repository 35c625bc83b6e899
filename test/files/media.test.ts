import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import sharp from 'sharp';
import { FolderStore } from '../../src/files/folder-store';
import { imageWorkerPool } from '../../src/files/image-worker-pool';
import type { Media } from '../../src/files/media';
import { isMediaPath, thumbnailPath } from '../../src/files/paths';
import { StagedFiles } from '../../src/files/staging';
import { WAIT_LIMIT_MS } from '../setup/waits';
import { uploaded } from './uploaded';
import { bomb, plain, svg, transparent } from './pictures';
import { mediaOf, namesIn, PLACES, type Place } from './stores';

const FOLDER = 'exercise-images/7';

/**
 * Under load the server postpones thumbnails. These tests suspend the limits, so that it creates
 * them immediately.
 */
const { cpuTimeLimitMs } = imageWorkerPool;

beforeAll(() => void (imageWorkerPool.cpuTimeLimitMs = WAIT_LIMIT_MS));
afterAll(() => void (imageWorkerPool.cpuTimeLimitMs = cpuTimeLimitMs));

describe.each(PLACES)('image storage in %s', (_where, start) => {
  let data: string;
  let place: Place;
  let media: Media;

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'media-'));
    place = await start();
  });
  beforeEach(() => {
    media = mediaOf(place);
  });
  afterEach(async () => {
    for (const name of await media.files.listFolders('')) await media.files.deleteFolder(name);
  });
  afterAll(async () => {
    await place.end();
    rmSync(data, { recursive: true });
  });

  /** Reserved paths. The server reserves paths in the database instead. */
  const reserved = new Set<string>();
  const names = () => namesIn(media.files);
  const file = async (filename = 'a.png', content?: Buffer) =>
    uploaded(filename, content ?? (await plain().png().toBuffer()));

  async function store(filename?: string, content?: Buffer): Promise<string> {
    const mine = new Set<string>();

    const wasTaken = async (path: string) => {
      if (!mine.has(path) && reserved.has(path)) return true;
      reserved.add(path);
      mine.add(path);
      return false;
    };

    const path = await media
      .store(FOLDER, await file(filename, content), 100, wasTaken)
      .finally(() => mine.forEach((one) => reserved.delete(one)));

    return path;
  }

  const read = async (path: string) => (await media.files.read(path))!;

  const sizeOf = async (path: string) => {
    const { width, height, format } = await sharp(await read(path)).metadata();

    return [width, height, format];
  };

  it('keeps files that are moved into folders whose last other files are deleted at the same time', async () => {
    const { files } = media;
    const folders = Array.from({ length: 40 }, (_, index) => `exercise-images/${index + 1}`);

    for (const folder of folders) {
      for (const path of [`${folder}/old.png`, `.staged/${folder}/new.png`]) {
        await files.write(path, (at) => writeFile(at, 'an image'));
      }
    }

    for (const [index, folder] of folders.entries()) {
      const deletion = files.deleteFiles(`${folder}/old.png`, []);

      await setTimeout(index % 10);
      await Promise.all([deletion, files.move(`.staged/${folder}/new.png`, `${folder}/new.png`)]);
    }

    expect(await names()).toEqual(folders.map((folder) => `${folder}/new.png`).sort());
  });

  describe('an upload', () => {
    it('keeps its name, or gets a suffix when the name is taken', async () => {
      expect(await store()).toBe(`${FOLDER}/a.png`);
      const before = await read(`${FOLDER}/a.png`);

      expect(await store('a.png', await plain(9, 9).png().toBuffer())).toMatch(
        /\/a_[A-Za-z0-9]{7}\.png$/,
      );
      expect(await read(`${FOLDER}/a.png`)).toEqual(before);
    });

    it('gets a unique name when several are stored concurrently', async () => {
      const paths = await Promise.all(Array.from({ length: 8 }, () => store()));

      expect(new Set(paths).size).toBe(8);
      expect(await names()).toHaveLength(8);
    });

    it.each(['../../a.png', '..\\..\\a.png', '/a.png', '.a.png', 'exercise-images/8/a.png'])(
      'named %j stays in its folder',
      async (filename) => expect(await store(filename)).toBe(`${FOLDER}/a.png`),
    );

    it('does not get the name of a thumbnail of another image', async () => {
      const path = await store();

      expect(await store(thumbnailPath('a.png', 'micro', false))).toMatch(
        /\/a\.png\.30x30_q85_[A-Za-z0-9]{7}\.jpg$/,
      );
      expect(await media.createThumbnail(path, 'micro', false)).toBe(true);
    });

    it.each([
      ['an SVG', svg],
      ['a decompression bomb', bomb()],
      ['empty', Buffer.alloc(0)],
    ])('is rejected and leaves no file behind when it is %s', async (_, content) => {
      await expect(store('a.png', content)).rejects.toThrow();
      expect(await names()).toEqual([]);
    });

    it('has its path cut to the length of the column', async () => {
      const path = await store(`${'n'.repeat(96)}.png`);

      expect(path).toHaveLength(100);
    });
  });

  describe('the media folder', () => {
    it.each([
      '../x',
      'a/../../x',
      '/etc/passwd',
      'a//b',
      '.import-1/x',
      'a/.x',
      '..\\x',
      'a\0b',
      '',
    ])('does not accept the path %j', (path) => expect(isMediaPath(path)).toBe(false));

    it('loses a removed image with its thumbnails and nothing else', async () => {
      const [one, two] = [await store(), await store('b.png')];

      await Promise.all([media.createThumbnails(one), media.createThumbnails(two)]);
      await media.remove([one, 'not/there.png', '../../etc/passwd']);
      expect((await names()).filter((name) => name.includes('a.png'))).toEqual([]);
      expect(await names()).toHaveLength(11);
    });
  });

  describe('thumbnails', () => {
    it.each([
      [600, 400, 'micro', [30, 20]],
      [600, 400, 'thumbnail', [80, 53]],
      [600, 400, 'medium', [400, 267]],
      [600, 400, 'large', [600, 400]],
      [600, 400, 'small_cropped', [200, 200]],
      [600, 400, 'large_cropped', [600, 400]],
      [400, 900, 'large_cropped', [400, 800]],
      [1000, 600, 'large_cropped', [800, 600]],
      [20, 10, 'small', [20, 10]],
      [20, 10, 'micro_cropped', [20, 10]],
    ])('scale an image of %i x %i as %s to %j', async (width, height, alias, size) => {
      const path = await store('a.png', await plain(width, height).png().toBuffer());

      expect(await media.createThumbnail(path, alias, false)).toBe(true);
      expect(await sizeOf(thumbnailPath(path, alias, false))).toEqual([...size, 'jpeg']);
    });

    it('crop to the most salient region', async () => {
      const face = await sharp({
        create: { width: 80, height: 80, channels: 3, background: '#e22' },
      })
        .png()
        .toBuffer();

      for (const [left, side] of [
        [0, 'left'],
        [520, 'right'],
      ] as const) {
        const wide = sharp({
          create: { width: 600, height: 100, channels: 3, background: '#999' },
        }).composite([{ input: face, left, top: 10 }]);
        const path = await store(`${side}.png`, await wide.png().toBuffer());

        expect(await media.createThumbnail(path, 'thumbnail_cropped', false)).toBe(true);
        const { channels } = await sharp(
          await read(thumbnailPath(path, 'thumbnail_cropped', false)),
        ).stats();

        expect(channels[0]!.mean - channels[1]!.mean).toBeGreaterThan(50);
      }
    });

    it('are PNG when the image has transparency', async () => {
      const path = await store('a.png', await transparent().png().toBuffer());

      expect(await media.createThumbnails(path)).toBe(true);
      expect(await sizeOf(thumbnailPath(path, 'micro', true))).toEqual([30, 30, 'png']);
      expect(await names()).toHaveLength(11);
    });

    it.each([
      ['a.gif', 'gif'],
      ['a.png', 'gif'],
      ['a.GIF', 'png'],
    ] as const)(
      'are PNG when the name or the content is GIF: %s with content %s',
      async (name, format) => {
        const path = await store(name, await plain(60, 40).toFormat(format).toBuffer());

        expect(await media.hasPngThumbnails(path)).toBe(true);
        expect(await media.createThumbnails(path)).toBe(true);
        expect(await sizeOf(thumbnailPath(path, 'micro', true))).toEqual([30, 20, 'png']);
      },
    );

    it('are created once for concurrent requests', async () => {
      const path = await store();
      const write = jest.spyOn(media.files, 'write');

      await Promise.all(Array.from({ length: 20 }, () => media.createThumbnails(path)));
      await media.createThumbnails(path);
      expect(write).toHaveBeenCalledTimes(10);
    });

    it('are removed when their image is removed meanwhile', async () => {
      const path = await store();
      const write = media.files.write.bind(media.files);

      jest.spyOn(media.files, 'write').mockImplementationOnce(async (...args) => {
        await media.remove([path]);
        await write(...args);
      });
      expect(await media.createThumbnail(path, 'micro', false)).toBe(false);
      expect(await names()).toEqual([]);
    });

    it('are rejected for missing images, invalid paths and the wrong format', async () => {
      expect(await media.createThumbnail('nothing.png', 'micro', false)).toBe(false);
      expect(await media.createThumbnails('../nothing.png')).toBe(false);
      expect(await media.createThumbnail(await store(), 'micro', true)).toBe(false);
    });
  });

  describe('staged files', () => {
    it('leave other files alone when they are published', async () => {
      const old = await store();

      await media.createThumbnails(old);
      const source = join(data, 'source.png');

      writeFileSync(source, 'new');
      const staging = new StagedFiles(media, '.staged');

      await staging.add('exercise-images/9/new.png', (at) => copyFile(source, at));
      const others = (await names()).filter((name) => !name.startsWith('.staged'));

      expect(others).toContain(old);
      await staging.publish();
      expect((await names()).sort()).toEqual(['exercise-images/9/new.png', ...others].sort());
    });

    it('leave nothing behind when discarded', async () => {
      const path = await store();
      const source = join(data, 'source.png');

      writeFileSync(source, 'new');
      const staging = new StagedFiles(media, '.staged');

      await staging.add(path, (at) => copyFile(source, at));
      await staging.discard();
      expect(await names()).toEqual([path]);
    });
  });
});

test('image storage in a folder reports a failed write and keeps no temporary file', async () => {
  const [, startFolder] = PLACES[0]!;
  const place = await startFolder();

  try {
    const path = `${FOLDER}/a.png`;

    mkdirSync(join(place.folder, path), { recursive: true });
    const { files } = mediaOf(place);

    await expect(files.write(path, (at) => writeFile(at, 'an image'))).rejects.toMatchObject({
      code: 'EISDIR',
    });
    expect(readdirSync(join(place.folder, FOLDER))).toEqual(['a.png']);
  } finally {
    await place.end();
  }
});

describe('a folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'folder-store-'));
  const store = new FolderStore(folder);

  afterAll(() => rmSync(folder, { recursive: true }));

  test('deletes what cannot exist without an error, and the rest', async () => {
    await store.write('one.png', (path) => writeFile(path, 'one'));
    await store.deleteFiles('x'.repeat(300), ['one.png/two.png', 'one.png']);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('reports a file that cannot be opened, and a folder that cannot be listed, instead of taking them for missing', async () => {
    symlinkSync('loop.png', join(folder, 'loop.png'));
    symlinkSync('loop', join(folder, 'loop'));
    await expect(store.openStream('loop.png')).rejects.toThrow('ELOOP');
    await expect(store.listFiles('loop')).rejects.toThrow('ELOOP');
    expect([await store.openStream('nothing.png'), await store.listFiles('nothing')]).toEqual([
      undefined,
      [],
    ]);
  });
});
