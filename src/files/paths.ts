/** Paths of image files: sanitized names of uploads, paths of thumbnails, and URLs. */

export interface ThumbnailSpec {
  /** Side in pixels of the square that the thumbnail fits into or, if cropped, fills. */
  readonly size: number;
  readonly isCropped: boolean;
  readonly quality: number;
}

/** Thumbnail sizes in pixels by alias. */
export const THUMBNAIL_SIZES = { micro: 30, thumbnail: 80, small: 200, medium: 400, large: 800 };
export const DEFAULT_THUMBNAIL_QUALITY = 85;
const LARGE_THUMBNAIL_QUALITY = 90;

export const croppedThumbnailName = (alias: string): string => `${alias}_cropped`;

/** Thumbnail settings by alias, in display order. */
export const THUMBNAIL_SPECS: ReadonlyMap<string, ThumbnailSpec> = new Map(
  Object.entries(THUMBNAIL_SIZES).flatMap(([alias, size]) => {
    const quality = alias === 'large' ? LARGE_THUMBNAIL_QUALITY : DEFAULT_THUMBNAIL_QUALITY;

    return [
      [alias, { size, isCropped: false, quality }],
      [croppedThumbnailName(alias), { size, isCropped: true, quality }],
    ] as [string, ThumbnailSpec][];
  }),
);

/**
 * Path of a thumbnail, which is in the folder of its image. Thumbnails of GIFs and of images with
 * transparency are PNG.
 */
export function thumbnailPath(path: string, alias: string, isPng: boolean): string {
  const { size, isCropped, quality } = THUMBNAIL_SPECS.get(alias)!;

  return `${path}.${size}x${size}_q${quality}${isCropped ? '_crop-smart' : ''}.${isPng ? 'png' : 'jpg'}`;
}

const THUMBNAIL_PATH_PATTERN = /^(.+)\.\d+x\d+_q\d+(?:_crop-smart)?\.(jpg|png)$/s;

export function parseThumbnailPath(
  path: string,
): { imagePath: string; alias: string; isPng: boolean } | undefined {
  const [, image, extension] = THUMBNAIL_PATH_PATTERN.exec(path) ?? [];

  if (image === undefined) return undefined;
  const isPng = extension === 'png';
  const alias = [...THUMBNAIL_SPECS.keys()].find(
    (candidate) => thumbnailPath(image, candidate, isPng) === path,
  );

  return alias === undefined ? undefined : { imagePath: image, alias, isPng };
}

/** Lists the path of an image and the paths of all its possible thumbnails. */
export const imageAndThumbnailPaths = (path: string): string[] => [
  path,
  ...[...THUMBNAIL_SPECS.keys()].flatMap((alias) => [
    thumbnailPath(path, alias, false),
    thumbnailPath(path, alias, true),
  ]),
];

/**
 * Whether a path has the form of a thumbnail path. An upload must not be mistaken for the thumbnail
 * of another image.
 */
export const isThumbnailPath = (path: string): boolean => THUMBNAIL_PATH_PATTERN.test(path);

/**
 * Whether a path can belong to a row: no path traversal, no NUL character, and no empty or hidden
 * segment.
 */
export const isMediaPath = (path: string): boolean =>
  !path.includes('\0') && !path.split(/[/\\]/).some((part) => part === '' || part.startsWith('.'));

/** URL of a file in the store. `base` is the URL of the service, or only its path. */
export const mediaUrl = (base: string, path: string): string =>
  `${base}/media/${path.split('/').map(encodeURIComponent).join('/')}`;

/** Path that matches no row, because no stored path contains a NUL character. */
const UNMATCHABLE_PATH = '\0';

/**
 * Converts the operand of a filter on a file's URL to a stored path (for `startsWith`, to its
 * beginning). `contains`, `endsWith` and `search` are compared with the path itself.
 */
export function urlToStoredPath(
  text: string,
  operator: string,
  isCaseInsensitive: boolean,
  baseUrl: string,
): string {
  if (['contains', 'endsWith', 'search'].includes(operator)) return text;
  const foldCase = (url: string) => (isCaseInsensitive ? url.toLowerCase() : url);
  const mediaBaseUrl = mediaUrl(baseUrl, '');
  const operand = foldCase(text);
  const foldedMediaBaseUrl = foldCase(mediaBaseUrl);

  if (!operand.startsWith(foldedMediaBaseUrl)) {
    const matchesAllPaths = operator === 'startsWith' && foldedMediaBaseUrl.startsWith(operand);

    return matchesAllPaths ? '' : UNMATCHABLE_PATH;
  }

  try {
    return decodeURIComponent(text.slice(mediaBaseUrl.length));
  } catch {
    return UNMATCHABLE_PATH;
  }
}

const MAX_CLIENT_NAME_LENGTH = 255;

/** Reduces a file name from a client to its last segment, without control characters. */
export function clientFileName(filename: string): string {
  const name = filename.split(/[/\\]/).at(-1)!.replace(/\p{C}/gu, '');

  if (name === '.' || name === '..') return '';
  const characters = [...name];

  if (characters.length <= MAX_CLIENT_NAME_LENGTH) return name;
  const extensionCharacters = [...dottedExtensionOf(name)].slice(0, MAX_CLIENT_NAME_LENGTH);

  return [
    ...characters.slice(0, MAX_CLIENT_NAME_LENGTH - extensionCharacters.length),
    ...extensionCharacters,
  ].join('');
}

/**
 * File extension with its dot: `.png` for `a.png`. A dot at either end of the name begins no
 * extension.
 */
function dottedExtensionOf(name: string): string {
  const dotIndex = name.lastIndexOf('.');

  return dotIndex > 0 && dotIndex < name.length - 1 ? name.slice(dotIndex) : '';
}

/** File extension in lower case without its dot: `png` for `A.PNG`. */
export const extensionOf = (name: string): string => dottedExtensionOf(name).slice(1).toLowerCase();

const sanitize = (text: string) => text.replaceAll(' ', '_').replace(/[^-\p{L}\p{N}_.]/gu, '');

/** Reduces the name of an upload to letters, digits, `_`, `-` and `.`, not starting with a dot. */
export function sanitizeFileName(filename: string): { stem: string; dottedExtension: string } {
  const name = clientFileName(filename).normalize('NFC').trim();
  const dottedExtension = dottedExtensionOf(name);

  return {
    stem:
      sanitize(name.slice(0, name.length - dottedExtension.length)).replace(/^\.+/, '') || 'image',
    dottedExtension: sanitize(dottedExtension),
  };
}

/**
 * Maximum length of the name of an image, so that the names of its thumbnails, which have a suffix,
 * do not exceed the 255 bytes that file systems permit.
 */
const MAX_NAME_BYTES = 255 - Buffer.byteLength('.800x800_q90_crop-smart.jpg');

/**
 * Builds the path `folder/stem<suffix><dottedExtension>` of at most `maxLength` characters,
 * shortening the stem if necessary.
 */
export function truncatedPath(
  folder: string,
  { stem, dottedExtension }: { stem: string; dottedExtension: string },
  suffix: string,
  maxLength: number,
): string {
  const characters = [...stem];
  const path = () => `${folder}/${characters.join('')}${suffix}${dottedExtension}`;

  while (
    characters.length > 1 &&
    ([...path()].length > maxLength ||
      Buffer.byteLength(path()) - Buffer.byteLength(folder) - 1 > MAX_NAME_BYTES)
  ) {
    characters.pop();
  }

  return path();
}
