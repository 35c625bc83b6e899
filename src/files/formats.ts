/**
 * Accepted image formats with their media types, extensions and signatures. The library `file-type` is not used, because it would parse untrusted
 * content in hundreds of other formats.
 */

export type ImageFormatName = 'jpeg' | 'png' | 'gif' | 'webp' | 'tiff' | 'avif';

/** Uploads are never stored as AVIF: encoding 24 megapixels takes 5 to 9 seconds and more than 1 GB of memory even at the lowest effort. */
export type StoredImageFormat = Exclude<ImageFormatName, 'avif'>;

interface ImageFormat {
  readonly mediaType: string;
  readonly extensions: readonly string[];
  /** Whether the content of a file has the signature of this image format. Content without a known signature is never passed to a decoder. */
  hasSignature(bytes: Buffer): boolean;
}

const readLatin1 = (bytes: Buffer, start: number, length: number) =>
  bytes.toString('latin1', start, start + length);

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
      readLatin1(bytes, 4, 4) === 'ftyp' &&
      ['avif', 'avis', 'mif1'].includes(readLatin1(bytes, 8, 4)),
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
