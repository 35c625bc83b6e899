/** Decoding and encoding of images, with limits on what a hostile file can cost. What is uploaded comes here in a process of its own only. */
import { readFile, writeFile } from 'node:fs/promises';
import sharp, { type Sharp, type SharpOptions } from 'sharp';
import { formatOfContent, type FormatName, type StoredFormat } from './formats';
import type { Thumbnail } from './paths';

// The loaders of libvips that may run at all: not those of SVG, PDF and others that read files or follow links.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Nsgif', 'Webp', 'Tiff', 'Heif'].map((loader) => `VipsForeignLoad${loader}Buffer`),
});
// Files are read by us, once each.
sharp.cache(false);

/** All frames together. */
export const MAX_MEGAPIXELS = 24;
const MEGAPIXEL = 1_000_000;
const OPTIONS: SharpOptions = { limitInputPixels: MAX_MEGAPIXELS * MEGAPIXEL, failOn: 'error' };

const ANIMATED: readonly FormatName[] = ['gif', 'webp'];

/** Fast settings. WebP needs effort 2: with less, libwebp cannot encode detailed images of 24 megapixels (PARTITION0_OVERFLOW). */
const ENCODE: Readonly<Record<StoredFormat, (image: Sharp) => Sharp>> = {
  jpeg: (image) => image.flatten({ background: '#fff' }).jpeg({ quality: 92 }),
  png: (image) => image.png(),
  gif: (image) => image.gif({ effort: 1 }),
  webp: (image) => image.webp({ quality: 92, effort: 2 }),
  tiff: (image) => image.tiff({ compression: 'lzw' }),
};

/** Throws unless all of it can be decoded. Every line is read, hence no shrinking while loading; some lines at a time, hence no whole picture in memory. */
const decode = (bytes: Buffer) => sharp(bytes, OPTIONS).resize(8, 8, { fit: 'fill', fastShrinkOnLoad: false }).raw().toBuffer();

export type Finding = 'image' | 'no image' | { megapixels: number };

/**
 * Decodes the image at this path and overwrites it with a new encoding in the `wanted` format. Pixels alone remain, upright and
 * in sRGB: no EXIF, XMP, ICC profile, comment or trailing bytes. Without a `wanted` format the image is decoded only, and the file stays as it is.
 */
export async function reencode(path: string, wanted: StoredFormat | undefined): Promise<Finding> {
  const bytes = await readFile(path);
  const format = formatOfContent(bytes);
  if (!format) return 'no image';
  try {
    const animated = ANIMATED.includes(format) && (wanted === undefined || ANIMATED.includes(wanted));
    // Of the header alone, which takes no time whatever it promises.
    const { width, height, pages = 1 } = await sharp(bytes, { animated, limitInputPixels: false }).metadata();
    const megapixels = (width * height) / MEGAPIXEL;
    if (megapixels > MAX_MEGAPIXELS) return { megapixels };
    if (wanted === undefined) {
      await decode(bytes);
      return 'image';
    }
    const image = sharp(bytes, { ...OPTIONS, animated });
    const upright = animated && pages > 1 ? image : image.autoOrient();
    await writeFile(path, await ENCODE[wanted](upright).toBuffer());
    return 'image';
  } catch {
    return 'no image';
  }
}

/** Whether the image can have transparent parts. */
export async function hasTransparency(bytes: Buffer): Promise<boolean> {
  return (await sharp(bytes, OPTIONS).metadata()).hasAlpha;
}

/** Never larger than the image; where a side of it is too short for a crop, that side stays short. */
export async function shrink(from: string, to: string, { size, cropped, quality }: Thumbnail, png: boolean): Promise<void> {
  const image = sharp(await readFile(from), { ...OPTIONS, failOn: 'none' }).autoOrient();
  const { width, height } = (await image.metadata()).autoOrient;
  if (cropped) image.resize({ width: Math.min(size, width), height: Math.min(size, height), position: sharp.strategy.attention });
  else image.resize({ width: size, height: size, fit: 'inside', withoutEnlargement: true });
  const content = await (png ? image.png() : image.flatten({ background: '#fff' }).jpeg({ quality })).toBuffer();
  await writeFile(to, content, { flag: 'wx' });
}
