/** Image processing, with limits on the resources that a malicious file can use. New uploads are processed only in worker processes. */
import { open, readFile, writeFile } from 'node:fs/promises';
import sharp, { type Sharp, type SharpOptions } from 'sharp';
import { formatOfContent, type ImageFormatName, type StoredImageFormat } from './formats';
import type { ThumbnailSpec } from './paths';

// Permits only the libvips loaders of some bitmap formats, because those for SVG, PDF and other formats read other files or follow links.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Nsgif', 'Webp', 'Tiff', 'Heif'].map(
    (loader) => `VipsForeignLoad${loader}Buffer`,
  ),
});
// Disables the cache of libvips, which would be useless, because each file is read once.
sharp.cache(false);

/** Maximum size of an image. For an animation, the frames are added up. */
export const MAX_MEGAPIXELS = 24;
const PIXELS_PER_MEGAPIXEL = 1_000_000;
const DECODE_OPTIONS: SharpOptions = {
  limitInputPixels: MAX_MEGAPIXELS * PIXELS_PER_MEGAPIXEL,
  failOn: 'error',
};

const ANIMATED_FORMATS: readonly ImageFormatName[] = ['gif', 'webp'];

/** Encoders with fast settings. WebP needs effort 2: with less, libwebp cannot encode detailed images of 24 megapixels (PARTITION0_OVERFLOW). */
const ENCODERS: Readonly<Record<StoredImageFormat, (image: Sharp) => Sharp>> = {
  jpeg: (image) => image.flatten({ background: '#fff' }).jpeg({ quality: 92 }),
  png: (image) => image.png(),
  gif: (image) => image.gif({ effort: 1 }),
  webp: (image) => image.webp({ quality: 92, effort: 2 }),
  tiff: (image) => image.tiff({ compression: 'lzw' }),
};

/**
 * Decodes every line of an image, to detect damage; throws if that fails. Disables shrinking on load, which would skip lines. The result is tiny, so
 * that only a few lines are in memory at a time.
 */
const decodeFully = (bytes: Buffer) =>
  sharp(bytes, DECODE_OPTIONS)
    .resize(8, 8, { fit: 'fill', fastShrinkOnLoad: false })
    .raw()
    .toBuffer();

export type ReencodeResult = 'image' | 'no image' | { excessiveMegapixels: number };

/**
 * Decodes the image at this path and overwrites it, encoded in `targetFormat`. This strips metadata: only pixels remain, upright and in sRGB, without
 * EXIF, XMP, ICC profile, comments or trailing bytes. Without a target format, decodes the image and leaves the file unchanged.
 */
export async function reencodeImage(
  path: string,
  targetFormat: StoredImageFormat | undefined,
): Promise<ReencodeResult> {
  const bytes = await readFile(path);
  const format = formatOfContent(bytes);
  if (!format) return 'no image';
  let encodedBytes: Buffer;
  try {
    const canBeAnimated =
      ANIMATED_FORMATS.includes(format) &&
      (targetFormat === undefined || ANIMATED_FORMATS.includes(targetFormat));
    // Reads only the header of the image, which is fast even for an image that claims to be huge.
    const {
      width,
      height,
      pages = 1,
    } = await sharp(bytes, { animated: canBeAnimated, limitInputPixels: false }).metadata();
    const megapixels = (width * height) / PIXELS_PER_MEGAPIXEL;
    if (megapixels > MAX_MEGAPIXELS) return { excessiveMegapixels: megapixels };
    if (targetFormat === undefined) {
      await decodeFully(bytes);
      return 'image';
    }
    const image = sharp(bytes, { ...DECODE_OPTIONS, animated: canBeAnimated });
    const uprightImage = canBeAnimated && pages > 1 ? image : image.autoOrient();
    encodedBytes = await ENCODERS[targetFormat](uprightImage).toBuffer();
  } catch {
    return 'no image';
  }
  await overwriteFile(path, encodedBytes);
  return 'image';
}

/** Replaces the content of a file. Throws if the file was deleted in the meantime, because nothing would delete a new one. */
async function overwriteFile(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.truncate();
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}

export async function hasTransparency(bytes: Buffer): Promise<boolean> {
  return (await sharp(bytes, DECODE_OPTIONS).metadata()).hasAlpha;
}

/** Writes a thumbnail. The image is never enlarged: a side shorter than the crop keeps its length. */
export async function writeThumbnail(
  sourcePath: string,
  targetPath: string,
  { size, isCropped, quality }: ThumbnailSpec,
  isPng: boolean,
): Promise<void> {
  const image = sharp(await readFile(sourcePath), {
    ...DECODE_OPTIONS,
    failOn: 'none',
  }).autoOrient();
  const { width, height } = (await image.metadata()).autoOrient;
  if (isCropped)
    image.resize({
      width: Math.min(size, width),
      height: Math.min(size, height),
      position: sharp.strategy.attention,
    });
  else image.resize({ width: size, height: size, fit: 'inside', withoutEnlargement: true });
  const content = await (
    isPng ? image.png() : image.flatten({ background: '#fff' }).jpeg({ quality })
  ).toBuffer();
  await writeFile(targetPath, content, { flag: 'wx' });
}
