import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import sharp from 'sharp';
import { imageWorkerPool } from '../../src/files/image-worker-pool';
import { validateImage, imageFieldOptions } from '../../src/files/upload';
import { OverloadedError } from '../../src/shared/limiter';
import { childrenOf } from '../database/processes';
import { until, WAIT_LIMIT_MS } from '../setup/waits';
import { uploaded } from './uploaded';
import {
  animation,
  bomb,
  chunk,
  difference,
  html,
  photoWithLocation,
  photo,
  plain,
  svg,
  transparent,
} from './pictures';

const INVALID =
  'Upload a valid image. The file you uploaded was either not an image or a corrupted image.';
const HEIC = 'HEIC photos are not supported. Save this photo as JPEG and upload it again.';
const image = imageFieldOptions(100);

const problems = async (filename: string, content: Buffer) => {
  const file = uploaded(filename, content);
  const found = image.check(file);

  return found.length ? found : image.checkAsync(file);
};

const validateAndRead = async (filename: string, content: Buffer) => {
  const file = uploaded(filename, content);

  expect(await validateImage(file)).toEqual([]);
  return readFileSync(file.path);
};

/**
 * Returns a copy of the file in which all bytes after the first occurrence of this ASCII text are
 * zero.
 */
function zerosAfter(text: string, content: Buffer): Buffer {
  const start = content.indexOf(text) + text.length;

  return Buffer.from(content).fill(0, start);
}

/** Creates the beginning of a HEIF file with these brands. */
function heif(majorBrand: string, ...compatibleBrands: string[]): Buffer {
  const brands = Buffer.from(`ftyp${majorBrand}\0\0\0\0${compatibleBrands.join('')}`, 'latin1');
  const size = Buffer.alloc(4);

  size.writeUInt32BE(size.length + brands.length);
  return Buffer.concat([size, brands, Buffer.from('\0\0\0\x08mdat', 'latin1')]);
}

/** All timers that Jest could fake, except `setTimeout`. */
const REAL_TIMERS = [
  ...(['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const),
  ...(['clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'] as const),
];

describe('image validation', () => {
  it.each([
    ['a text', 'abc'],
    ['an object', { filename: 'a.png' }],
    ['an object like an uploaded file', { ...uploaded('a.png', svg) }],
    ['a number', 7],
  ])('rejects %s as not a file', (_, value) =>
    expect(image.check(value)).toEqual([
      'The submitted data was not a file. Check the encoding type on the form.',
    ]),
  );

  it.each([
    ['an empty file', 'a.png', () => Buffer.alloc(0), 'The submitted file is empty.'],
    ['a missing name', '', () => svg, 'No file was submitted.'],
    ['a name of dots', '../..', () => svg, 'No file was submitted.'],
    [
      'a long name',
      `${'n'.repeat(150)}.png`,
      () => svg,
      'Ensure this filename has at most 100 characters (it has 154).',
    ],
    ['SVG named .png', 'a.png', () => svg, INVALID],
    ['HTML named .png', 'a.png', () => html, INVALID],
    ['HTML named .txt', 'a.txt', () => html, INVALID],
    [
      'SVG after a PNG signature',
      'a.png',
      () => Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), svg]),
      INVALID,
    ],
    [
      'an image of 400 megapixels',
      'a.png',
      () => bomb(),
      'Ensure this image has at most 24 megapixels (it has 400).',
    ],
    [
      'a PNG of 25 megapixels',
      'a.png',
      () => plain(5_000, 5_000).png().toBuffer(),
      'Ensure this image has at most 24 megapixels (it has 25).',
    ],
    [
      'a JPEG of 51 megapixels',
      'a.jpg',
      () => plain(10_200, 5_000).jpeg().toBuffer(),
      'Ensure this image has at most 50 megapixels (it has 51).',
    ],
    [
      'a progressive JPEG of 25 megapixels',
      'a.jpg',
      () => plain(5_000, 5_000).jpeg({ progressive: true }).toBuffer(),
      'Ensure this image has at most 24 megapixels (it has 25).',
    ],
    ['a HEIC photo', 'a.heic', () => heif('heic', 'mif1'), HEIC],
    ['a HEIC photo named .jpg', 'a.jpg', () => heif('mif1', 'mif2', 'heic'), HEIC],
    ['an AVIF without an image', 'a.avif', () => heif('avif', 'mif1'), INVALID],
    [
      'half a JPEG of 48 megapixels',
      'a.jpg',
      async () =>
        ((b) => b.subarray(0, b.length >> 1))(await plain(8_000, 6_000).jpeg().toBuffer()),
      INVALID,
    ],
    [
      'half a JPEG',
      'a.jpg',
      async () => ((b) => b.subarray(0, b.length >> 1))(await plain(300, 300).jpeg().toBuffer()),
      INVALID,
    ],
    [
      'a JPEG without its end marker',
      'a.jpg',
      async () => (await plain().jpeg().toBuffer()).subarray(0, -2),
      INVALID,
    ],
    [
      'half a PNG',
      'a.png',
      async () => ((b) => b.subarray(0, b.length >> 1))(await plain().png().toBuffer()),
      INVALID,
    ],
    [
      'an AVIF with zeroed image data',
      'a.avif',
      async () => zerosAfter('mdat', await plain().avif().toBuffer()),
      INVALID,
    ],
    [
      'half a GIF',
      'a.gif',
      async () => ((b) => b.subarray(0, b.length >> 1))(await plain().gif().toBuffer()),
      INVALID,
    ],
  ])('rejects %s', async (_, filename, content, message) =>
    expect(await problems(filename, await content())).toEqual([message]),
  );

  it('rejects an image that exceeds its CPU time and accepts the next one', async () => {
    const usual = imageWorkerPool.cpuTimeLimitMs;
    const large = await photo(3_000);

    // Starts the worker processes before the limit applies.
    for (const name of ['one.png', 'two.png']) {
      expect(await problems(name, await plain().png().toBuffer())).toEqual([]);
    }

    // The worker process measures its own CPU time. Fake timers disable the limit of elapsed time,
    // after which this process would report overload.
    jest.useFakeTimers({ doNotFake: REAL_TIMERS });
    imageWorkerPool.cpuTimeLimitMs = 100;

    try {
      expect(await problems('slow.jpg', large)).toEqual([
        'This image takes too long to process. Save it again in a smaller size or in another format.',
      ]);
    } finally {
      imageWorkerPool.cpuTimeLimitMs = usual;
      jest.useRealTimers();
    }

    expect(await problems('next.png', await plain().png().toBuffer())).toEqual([]);
  });

  it('reports overload if a termination signal ends the worker process while it starts', async () => {
    const content = await plain().png().toBuffer();

    /**
     * Ends the worker process as soon as it exists. Returns the messages, which are empty if the
     * process was already able to ignore the signal.
     */
    const attempt = async (): Promise<string[] | Error> => {
      imageWorkerPool.end();
      await until(
        'the earlier worker processes have ended',
        () => childrenOf(process.pid, 'image-worker.ts').length === 0,
      );
      const result = problems('a.png', content).catch((error: Error) => error);

      while (childrenOf(process.pid, 'image-worker.ts').length === 0) await nextTurn();
      for (const pid of childrenOf(process.pid, 'image-worker.ts')) process.kill(pid, 'SIGTERM');

      return result;
    };

    let result: string[] | Error = [];

    for (
      let attempts = 0;
      attempts < 20 && Array.isArray(result) && result.length === 0;
      attempts += 1
    ) {
      result = await attempt();
    }

    expect(result).toBeInstanceOf(OverloadedError);
    expect(await problems('next.png', content)).toEqual([]);
  });

  // Files of formats that are not accepted: images of one white pixel, or just the beginning of a
  // file.
  it.each([
    [
      'BMP',
      Buffer.from(
        'Qk06AAAAAAAAADYAAAAoAAAAAQAAAAEAAAABABgAAAAAAAQAAAATCwAAEwsAAAAAAAAAAAAA////AA==',
        'base64',
      ),
    ],
    [
      'ICO',
      Buffer.from(
        'AAABAAEAAQEAAAEAGAAwAAAAFgAAACgAAAABAAAAAgAAAAEAGAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAD///8AAAAAAA==',
        'base64',
      ),
    ],
    ['PPM', Buffer.from('P6 1 1 255\n\xff\xff\xff', 'latin1')],
    ['TGA', Buffer.from('AAACAAAAAAAAAAAAAQABABgA////', 'base64')],
    ['PDF', Buffer.from('%PDF-1.4\n%%EOF')],
    ['EPS', Buffer.from('%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 1 1\n%%EOF')],
  ])('rejects %s with any file extension', async (format, content) => {
    expect(await problems('a.png', content)).toEqual([INVALID]);
    expect(await problems(`a.${format.toLowerCase()}`, content)).not.toEqual([]);
  });

  it('rejects an image with an unknown file extension', async () => {
    const [message] = await problems('a.TXT', await plain().png().toBuffer());

    expect(message).toMatch(/^File extension “txt” is not allowed\. Allowed extensions are: jpg, /);
  });
});

describe('a JPEG of a phone', () => {
  const sizeOf = async (content: Buffer) => {
    const { width, height, orientation } = await sharp(
      await validateAndRead('photo.jpg', content),
    ).metadata();

    return { width, height, orientation };
  };

  it('of up to 24 megapixels keeps its size', async () => {
    expect(await sizeOf(await plain(6_000, 4_000).jpeg().toBuffer())).toMatchObject({
      width: 6_000,
      height: 4_000,
    });
  });

  it('of 50 megapixels is stored upright with half the width and height', async () => {
    const sideways = plain(8_193, 6_143).jpeg().withMetadata({ orientation: 6 });

    expect(await sizeOf(await sideways.toBuffer())).toEqual({
      width: 3_071,
      height: 4_096,
      orientation: undefined,
    });
  });

  it('needs no more memory with 50 megapixels than another image with 24', async () => {
    const peakMegabytes = async (content: Buffer) => {
      imageWorkerPool.end();
      await until(
        'the earlier worker processes have ended',
        () => childrenOf(process.pid, 'image-worker.ts').length === 0,
      );
      await validateAndRead('photo.jpg', content);
      const [pid] = childrenOf(process.pid, 'image-worker.ts');
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');

      return Number(/^VmHWM:\s*(\d+) kB/m.exec(status)![1]) / 1024;
    };

    const usual = await peakMegabytes(await plain(6_000, 4_000).jpeg().toBuffer());

    expect(await peakMegabytes(await plain(8_192, 6_144).jpeg().toBuffer())).toBeLessThan(
      usual + 50,
    );
  });
});

describe('a valid image', () => {
  // On a busy machine, a large image takes longer than the server allows by default.
  const { cpuTimeLimitMs } = imageWorkerPool;

  beforeAll(() => void (imageWorkerPool.cpuTimeLimitMs = WAIT_LIMIT_MS));
  afterAll(() => void (imageWorkerPool.cpuTimeLimitMs = cpuTimeLimitMs));

  it.each(['jpeg', 'png', 'gif', 'webp', 'tiff', 'avif'] as const)(
    'is accepted as %s',
    async (format) =>
      expect(await problems(`a.${format}`, await plain().toFormat(format).toBuffer())).toEqual([]),
  );

  it('loses its EXIF data and is turned upright', async () => {
    const content = await photoWithLocation();

    expect((await sharp(content).metadata()).exif).toBeDefined();
    const { exif, xmp, iptc, orientation, width, height } = await sharp(
      await validateAndRead('a.jpg', content),
    ).metadata();

    expect({ exif, xmp, iptc, orientation }).toEqual({});
    expect([width, height]).toEqual([40, 60]);
  });

  it.each([
    ['jpeg', ['exif', 'xmp']],
    ['png', ['exif', 'xmp']],
    ['webp', ['exif', 'xmp']],
    ['avif', ['exif', 'xmp']],
    ['tiff', ['xmp']],
  ] as const)('loses location, camera model and XMP as %s', async (format, fields) => {
    const sent = await plain()
      .toFormat(format)
      .withExif({
        IFD0: { Model: 'secret' },
        IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '52/1 31/1 0/1' },
      })
      .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"><secret/></x:xmpmeta>')
      .toBuffer();

    expect(Object.keys(await sharp(sent).metadata())).toEqual(expect.arrayContaining([...fields]));
    const stored = await validateAndRead(`a.${format}`, sent);
    const { exif, xmp, iptc, icc, comments } = await sharp(stored).metadata();

    expect({ exif, xmp, iptc, icc, comments }).toEqual({});
    expect(stored.includes('secret')).toBe(false);
  });

  it.each(['jpeg', 'png', 'gif', 'webp', 'tiff', 'avif'] as const)(
    'loses trailing data as %s',
    async (format) => {
      // These bytes are a box that readers of AVIF skip. For the other formats they are trailing
      // data.
      const sent = Buffer.concat([
        await plain().toFormat(format).toBuffer(),
        Buffer.from('\0\0\0\x0efreesecret', 'latin1'),
      ]);

      expect((await validateAndRead(`a.${format}`, sent)).includes('secret')).toBe(false);
    },
  );

  it.each([
    [
      'a comment in a PNG',
      async () =>
        ((b) =>
          Buffer.concat([
            b.subarray(0, 33),
            chunk('tEXt', Buffer.from('Comment\0secret')),
            b.subarray(33),
          ]))(await plain().png().toBuffer()),
      'a.png',
    ],
    [
      'a comment in a GIF',
      async () =>
        ((b) =>
          Buffer.concat([b.subarray(0, -1), Buffer.from('\x21\xfe\x06secret\0\x3b', 'latin1')]))(
          await plain().gif().toBuffer(),
        ),
      'a.gif',
    ],
    [
      'a comment in a JPEG',
      async () =>
        ((b) =>
          Buffer.concat([
            b.subarray(0, 2),
            Buffer.from('\xff\xfe\0\x08secret', 'latin1'),
            b.subarray(2),
          ]))(await plain().jpeg().toBuffer()),
      'a.jpg',
    ],
  ])('loses %s', async (_, content, filename) => {
    const sent = await content();

    expect(sent.includes('secret')).toBe(true);
    expect((await validateAndRead(filename, sent)).includes('secret')).toBe(false);
  });

  it('is encoded in the format of its file name', async () => {
    expect(
      (await sharp(await validateAndRead('a.jpg', await transparent().png().toBuffer())).metadata())
        .format,
    ).toBe('jpeg');
  });

  it.each([
    ['PNG', 'a.png', () => plain().png({ compressionLevel: 0 }).toBuffer()],
    ['transparent PNG', 'a.png', () => transparent().png({ compressionLevel: 0 }).toBuffer()],
    ['JPEG', 'a.jpg', () => plain().jpeg({ quality: 31 }).toBuffer()],
    ['progressive JPEG', 'a.jpg', () => plain(300, 200).jpeg({ progressive: true }).toBuffer()],
  ])('is re-encoded even without metadata: %s', async (_, filename, content) => {
    const sent = await content();
    const stored = await validateAndRead(filename, sent);

    expect(stored.equals(sent)).toBe(false);
    expect(await difference(sent, stored)).toBeLessThan(4);
  });

  it.each([
    [
      'transparency',
      'a.png',
      () => transparent().png().toBuffer(),
      { format: 'png', hasAlpha: true },
    ],
    [
      'transparency',
      'a.webp',
      () => transparent().webp().toBuffer(),
      { format: 'webp', hasAlpha: true },
    ],
    [
      'transparency',
      'a.avif',
      () => transparent().avif().toBuffer(),
      { format: 'webp', hasAlpha: true },
    ],
    ['all frames', 'a.gif', () => animation().gif().toBuffer(), { format: 'gif', pages: 2 }],
    ['all frames', 'a.webp', () => animation().webp().toBuffer(), { format: 'webp', pages: 2 }],
  ])('keeps %s as %s', async (_, filename, content, expected) =>
    expect(
      await sharp(await validateAndRead(filename, await content()), { animated: true }).metadata(),
    ).toMatchObject(expected),
  );

  it('is stored as WebP when it is so large that libwebp needs effort 2', async () => {
    const stored = await validateAndRead('a.webp', await photo(4_300));

    expect(await sharp(stored).metadata()).toMatchObject({
      format: 'webp',
      width: 4_300,
      height: 4_300,
    });
  });

  it.each(['avif', 'png'] as const)(
    'named .avif is stored as WebP when its content is %s',
    async (format) => {
      const sent = await plain().toFormat(format).toBuffer();
      const stored = await validateAndRead('a.avif', sent);

      expect((await sharp(stored).metadata()).format).toBe('webp');
      expect(await difference(sent, stored)).toBeLessThan(4);
    },
  );
});
