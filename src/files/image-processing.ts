/**
 * Image processing, with limits on the resources that a malicious file can use. New uploads are
 * processed only in worker processes.
 */
import { open, readFile, writeFile } from 'node:fs/promises';
import sharp, { type Sharp, type SharpOptions } from 'sharp';
import { formatOfContent, isHeic, type ImageFormatName, type StoredImageFormat } from './formats';
import type { ThumbnailSpec } from './paths';

// Permits only the libvips loaders of some bitmap formats, because loaders of SVG, PDF and others
// read other files or follow links.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Nsgif', 'Webp', 'Tiff', 'Heif'].map(
    (loader) => `VipsForeignLoad${loader}Buffer`,
  ),
});
// Disables the cache of libvips, which would be useless, because each file is read once.
sharp.cache(false);

/**
 * Maximum number of megapixels to which an image is decoded, which bounds the memory. The frames of
 * an animation are added up.
 */
const MAX_DECODED_MEGAPIXELS = 24;
const PIXELS_PER_MEGAPIXEL = 1_000_000;

const decodeOptions = (maxMegapixels: number): SharpOptions => ({
  limitInputPixels: (maxMegapixels + 1) * PIXELS_PER_MEGAPIXEL,
  failOn: 'error',
});

const DECODE_OPTIONS = decodeOptions(MAX_DECODED_MEGAPIXELS);

/** Factors by which a decoder of JPEG can shrink both sides. */
const JPEG_SHRINK_FACTORS = [1, 2, 4, 8];

const ANIMATED_FORMATS: readonly ImageFormatName[] = ['gif', 'webp'];

/**
 * Encoders with fast settings. WebP needs effort 2: with less, libwebp cannot encode detailed
 * images of 24 megapixels (PARTITION0_OVERFLOW).
 */
const ENCODERS: Readonly<Record<StoredImageFormat, (image: Sharp) => Sharp>> = {
  jpeg: (image) => image.flatten({ background: '#fff' }).jpeg({ quality: 92 }),
  png: (image) => image.png(),
  gif: (image) => image.gif({ effort: 1 }),
  webp: (image) => image.webp({ quality: 92, effort: 2 }),
  tiff: (image) => image.tiff({ compression: 'lzw' }),
};

/**
 * Decodes every line of an image, to detect damage. Shrinking on load would skip lines. The tiny
 * result keeps the memory use small.
 */
const decodeFully = (bytes: Buffer, options: SharpOptions) =>
  sharp(bytes, options).resize(8, 8, { fit: 'fill', fastShrinkOnLoad: false }).raw().toBuffer();

type ImageSize = Record<'width' | 'height', number>;

/**
 * Shrinks an image by a factor at which libjpeg decodes only a part of the frequencies. Rounding
 * down avoids a smaller factor.
 */
function shrinkOnLoad(image: Sharp, { width, height }: ImageSize, factor: number): void {
  const [shrunkWidth, shrunkHeight] = [width, height].map((side) => Math.floor(side / factor));

  image.resize({ width: shrunkWidth, height: shrunkHeight, fit: 'fill' });
}

export type ReencodeResult =
  'image' | 'HEIC' | 'no image' | { excessiveMegapixels: number; maxMegapixels: number };

/**
 * Decodes an image file and overwrites it, encoded in `targetFormat`. This strips metadata: only
 * upright pixels in sRGB remain, without EXIF, XMP, ICC profile, comments or trailing bytes.
 * Without `targetFormat`, only checks that the image can be decoded.
 *
 * A baseline JPEG may have up to `maxJpegMegapixels`, because it can be decoded at a fraction of its
 * size, at which it is stored. Of a progressive JPEG, libjpeg keeps all coefficients in memory.
 */
export async function reencodeImage(
  path: string,
  targetFormat: StoredImageFormat | undefined,
  maxJpegMegapixels: number,
): Promise<ReencodeResult> {
  const bytes = await readFile(path);
  const format = formatOfContent(bytes);

  if (!format) return isHeic(bytes) ? 'HEIC' : 'no image';
  let encodedBytes: Buffer;

  try {
    const keepsAnimation =
      ANIMATED_FORMATS.includes(format) &&
      (targetFormat === undefined || ANIMATED_FORMATS.includes(targetFormat));
    // Reads only the header of the image, which is fast even if the image claims to be huge.
    const {
      width,
      height,
      pages = 1,
      isProgressive,
      autoOrient: uprightSize,
    } = await sharp(bytes, { animated: keepsAnimation, limitInputPixels: false }).metadata();
    const megapixels = Math.floor((width * height) / PIXELS_PER_MEGAPIXEL);
    const isBaselineJpeg = format === 'jpeg' && !isProgressive;
    const maxMegapixels = isBaselineJpeg ? maxJpegMegapixels : MAX_DECODED_MEGAPIXELS;

    if (megapixels > maxMegapixels) return { excessiveMegapixels: megapixels, maxMegapixels };
    const options = decodeOptions(maxMegapixels);

    if (targetFormat === undefined) {
      await decodeFully(bytes, options);
      return 'image';
    }

    const image = sharp(bytes, { ...options, animated: keepsAnimation });
    const uprightImage = keepsAnimation && pages > 1 ? image : image.autoOrient();
    const shrinkFactor = JPEG_SHRINK_FACTORS.find(
      (factor) => megapixels / factor ** 2 <= MAX_DECODED_MEGAPIXELS,
    );

    if (shrinkFactor !== 1) shrinkOnLoad(uprightImage, uprightSize, shrinkFactor!);
    encodedBytes = await ENCODERS[targetFormat](uprightImage).toBuffer();
  } catch {
    return 'no image';
  }

  await overwriteFile(path, encodedBytes);
  return 'image';
}

/**
 * Replaces the content of an existing file. Fails if the file was deleted in the meantime, because
 * a new one would never be deleted.
 */
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

/**
 * Writes a thumbnail. The image is never enlarged: a side that is shorter than the thumbnail's
 * keeps its length.
 */
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

  if (isCropped) {
    image.resize({
      width: Math.min(size, width),
      height: Math.min(size, height),
      position: sharp.strategy.attention,
    });
  } else image.resize({ width: size, height: size, fit: 'inside', withoutEnlargement: true });
  const content = await (
    isPng ? image.png() : image.flatten({ background: '#fff' }).jpeg({ quality })
  ).toBuffer();

  await writeFile(targetPath, content, { flag: 'wx' });
}
