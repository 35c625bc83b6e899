/** Decoding and encoding of images, with limits on what a hostile file can cost. */
import sharp, { type Sharp, type SharpOptions } from 'sharp';
import type { FormatName } from './formats';
import { isPure } from './purity';
import type { Thumbnail } from './names';
import { Turns } from '../turns';

// The loaders of libvips that may run at all: not those of SVG, PDF and others that read files or follow links.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Nsgif', 'Webp', 'Tiff', 'Heif'].map((loader) => `VipsForeignLoad${loader}Buffer`),
});
// Files are read by us, once each.
sharp.cache(false);

/** All frames together; a phone's 50 megapixels pass. */
const MAX_PIXELS = 64_000_000;
const MAX_SECONDS = 20;
const OPTIONS: SharpOptions = { limitInputPixels: MAX_PIXELS, failOn: 'error' };

const turns = new Turns(2);

/**
 * One picture takes up to a few hundred megabytes and all cores; the threads are wanted for other work too. So all work on pictures, from
 * the reading of the file on, waits for its turn.
 */
export const inTurn = <T>(work: () => Promise<T>): Promise<T> => turns.run(work);

const ANIMATED: readonly FormatName[] = ['gif', 'webp'];

const ENCODE: Readonly<Record<FormatName, (image: Sharp) => Sharp>> = {
  jpeg: (image) => image.flatten({ background: '#fff' }).jpeg({ quality: 92 }),
  png: (image) => image.png(),
  gif: (image) => image.gif(),
  webp: (image) => image.webp({ quality: 92 }),
  tiff: (image) => image.tiff({ compression: 'lzw' }),
  avif: (image) => image.avif({ quality: 70 }),
};

/**
 * The picture in `wanted` format, without anything that is no part of it. As it was sent where that holds already, encoded anew elsewhere.
 * Throws unless all of it can be decoded.
 */
export async function purified(bytes: Buffer, format: FormatName, wanted: FormatName): Promise<Buffer> {
  if (format === wanted && isPure(bytes, format)) {
    // Every line is read, hence no shrinking while loading; a megapixel at a time, hence no whole picture in memory.
    await sharp(bytes, OPTIONS).resize(8, 8, { fit: 'fill', fastShrinkOnLoad: false }).timeout({ seconds: MAX_SECONDS }).raw().toBuffer();
    return bytes;
  }
  const animated = ANIMATED.includes(format) && ANIMATED.includes(wanted);
  const image = sharp(bytes, { ...OPTIONS, animated });
  const { pages = 1 } = await image.metadata();
  const upright = pages > 1 ? image : image.autoOrient();
  return ENCODE[wanted](upright).timeout({ seconds: MAX_SECONDS }).toBuffer();
}

/** Whether the image can have transparent parts. */
export async function hasTransparency(bytes: Buffer): Promise<boolean> {
  return (await sharp(bytes, OPTIONS).metadata()).hasAlpha;
}

/** Never larger than the image; where a side of it is too short for a crop, that side stays short. */
export async function shrunk(bytes: Buffer, { size, cropped, quality }: Thumbnail, png: boolean): Promise<Buffer> {
  const image = sharp(bytes, { ...OPTIONS, failOn: 'none' })
    .autoOrient()
    .timeout({ seconds: MAX_SECONDS });
  const { width, height } = (await image.metadata()).autoOrient;
  if (cropped) image.resize({ width: Math.min(size, width), height: Math.min(size, height), position: sharp.strategy.attention });
  else image.resize({ width: size, height: size, fit: 'inside', withoutEnlargement: true });
  return (png ? image.png() : image.flatten({ background: '#fff' }).jpeg({ quality })).toBuffer();
}
