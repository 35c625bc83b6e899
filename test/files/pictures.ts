/** Images for the tests, valid and deliberately invalid ones. */
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

export const plain = (width = 60, height = 40) =>
  sharp({ create: { width, height, channels: 3, background: '#c33' } });
export const transparent = () =>
  sharp({
    create: { width: 40, height: 40, channels: 4, background: { r: 9, g: 9, b: 9, alpha: 0.5 } },
  });

/** Creates an animation of two frames, one white and one black. */
export const animation = () =>
  sharp(Buffer.alloc(60 * 80 * 3).fill(255, 0, 60 * 40 * 3), {
    raw: { width: 60, height: 80, channels: 3, pageHeight: 40 },
  });

/** Creates a JPEG with a camera model, a location and an orientation other than upright. */
export const photoWithLocation = () =>
  plain()
    .jpeg()
    .withExif({
      IFD0: { Model: 'Spy', Orientation: '6' },
      IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '52/1 31/1 0/1' },
    })
    .withMetadata({ orientation: 6 })
    .toBuffer();

/** Creates a noisy photo that the server must re-encode because of its EXIF data. */
export const photo = (side: number) =>
  sharp({
    create: {
      width: side,
      height: side,
      channels: 3,
      noise: { type: 'gaussian', mean: 128, sigma: 30 },
      background: '#888',
    },
  })
    .jpeg({ quality: 60 })
    .withExif({ IFD0: { Model: 'Spy' } })
    .toBuffer();

/** Returns the largest difference between two images of equal size in any channel of any pixel. */
export async function difference(one: Buffer, other: Buffer): Promise<number> {
  const [left, right] = await Promise.all(
    [one, other].map((image) => sharp(image).raw().toBuffer()),
  );

  expect(left!.length).toBe(right!.length);
  return left!.reduce(
    (largest, value, index) => Math.max(largest, Math.abs(value - right![index]!)),
    0,
  );
}

export function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);

  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);

  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Creates a decompression bomb: 400 megapixels of one bit each in about 50 KB. */
export function bomb(side = 20_000): Buffer {
  const header = Buffer.alloc(13);

  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header[8] = 1;
  const rows = Buffer.alloc((side / 8 + 1) * side);

  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

export const svg = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>',
);
export const html = Buffer.from('<!doctype html><script>alert(1)</script>');
