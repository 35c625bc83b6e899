/**
 * Accepted image formats with their media types, extensions and signatures. The library `file-type`
 * is not used, because it would parse untrusted content in hundreds of other formats.
 */

export type ImageFormatName = 'jpeg' | 'png' | 'gif' | 'webp' | 'tiff' | 'avif';

/**
 * Uploads are never stored as AVIF: encoding 24 megapixels takes 5 to 9 seconds and more than 1 GB
 * of memory even at the lowest effort.
 */
export type StoredImageFormat = Exclude<ImageFormatName, 'avif'>;

interface ImageFormat {
  readonly mediaType: string;
  readonly extensions: readonly string[];

  /**
   * Recognizes the image format by the magic number of a file. Files without a known one are never
   * passed to a decoder.
   */
  hasSignature(bytes: Buffer): boolean;
}

const readLatin1 = (bytes: Buffer, start: number, length: number) =>
  bytes.toString('latin1', start, start + length);

/** Maximum size of the box with the brands of a HEIF file that is read. */
const MAX_BRAND_BYTES = 256;

/** Brands of a HEIF file (ISO/IEC 14496-12, section 4.3), such as AVIF or HEIC, major one first. */
function heifBrands(bytes: Buffer): string[] {
  if (readLatin1(bytes, 4, 4) !== 'ftyp') return [];
  const boxSize = Math.min(bytes.readUInt32BE(0), MAX_BRAND_BYTES);
  const [majorBrand = '', _minorVersion, ...compatibleBrands] =
    readLatin1(bytes, 8, boxSize - 8).match(/[^]{4}/g) ?? [];

  return [majorBrand, ...compatibleBrands];
}

const HEIC_BRANDS = ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs'];

/** Whether a file is a HEIC photo, which libvips cannot decode because of patents. */
export const isHeic = (bytes: Buffer): boolean =>
  heifBrands(bytes).some((brand) => HEIC_BRANDS.includes(brand));

export const IMAGE_FORMATS: Readonly<Record<ImageFormatName, ImageFormat>> = {
  jpeg: {
    mediaType: 'image/jpeg',
    extensions: ['jpg', 'jpeg', 'jpe', 'jfif'],
    hasSignature: (bytes) => readLatin1(bytes, 0, 3) === '\xff\xd8\xff',
  },
  png: {
    mediaType: 'image/png',
    extensions: ['png', 'apng'],
    hasSignature: (bytes) => readLatin1(bytes, 0, 8) === '\x89PNG\r\n\x1a\n',
  },
  gif: {
    mediaType: 'image/gif',
    extensions: ['gif'],
    hasSignature: (bytes) => /^GIF8[79]a$/.test(readLatin1(bytes, 0, 6)),
  },
  webp: {
    mediaType: 'image/webp',
    extensions: ['webp'],
    hasSignature: (bytes) =>
      readLatin1(bytes, 0, 4) === 'RIFF' && readLatin1(bytes, 8, 4) === 'WEBP',
  },
  tiff: {
    mediaType: 'image/tiff',
    extensions: ['tif', 'tiff'],
    hasSignature: (bytes) => ['II*\0', 'MM\0*'].includes(readLatin1(bytes, 0, 4)),
  },
  avif: {
    mediaType: 'image/avif',
    extensions: ['avif'],
    hasSignature: (bytes) =>
      ['avif', 'avis', 'mif1'].includes(heifBrands(bytes)[0] ?? '') && !isHeic(bytes),
  },
};

const FORMAT_NAMES = Object.keys(IMAGE_FORMATS) as ImageFormatName[];

export const IMAGE_EXTENSIONS: readonly string[] = FORMAT_NAMES.flatMap(
  (name) => IMAGE_FORMATS[name].extensions,
);

export const formatOfContent = (bytes: Buffer): ImageFormatName | undefined =>
  FORMAT_NAMES.find((name) => IMAGE_FORMATS[name].hasSignature(bytes));
export const formatOfExtension = (extension: string): ImageFormatName | undefined =>
  FORMAT_NAMES.find((name) => IMAGE_FORMATS[name].extensions.includes(extension));

export const storedFormatFor = (format: ImageFormatName): StoredImageFormat =>
  format === 'avif' ? 'webp' : format;
