/** Paths of image files: sanitised names of uploads, paths of thumbnails, and URLs. */

export interface Thumbnail {
  /** Side in pixels of the square that the image fits into, or fills if cropped. */
  readonly size: number;
  readonly cropped: boolean;
  readonly quality: number;
}

/** Thumbnail sizes in pixels by alias. */
export const THUMBNAIL_SIZES = { micro: 30, thumbnail: 80, small: 200, medium: 400, large: 800 };
export const DEFAULT_QUALITY = 85;
const LARGE_QUALITY = 90;

export const croppedAlias = (alias: string): string => `${alias}_cropped`;

/** Thumbnail settings by alias, in display order. */
export const THUMBNAILS: ReadonlyMap<string, Thumbnail> = new Map(
  Object.entries(THUMBNAIL_SIZES).flatMap(([alias, size]) => {
    const quality = alias === 'large' ? LARGE_QUALITY : DEFAULT_QUALITY;
    return [
      [alias, { size, cropped: false, quality }],
      [croppedAlias(alias), { size, cropped: true, quality }],
    ] as [string, Thumbnail][];
  }),
);

/** The path of a thumbnail, in the folder of its image. `png` is for GIFs and images with transparency. */
export function thumbnailPath(path: string, alias: string, png: boolean): string {
  const { size, cropped, quality } = THUMBNAILS.get(alias)!;
  return `${path}.${size}x${size}_q${quality}${cropped ? '_crop-smart' : ''}.${png ? 'png' : 'jpg'}`;
}

const THUMBNAIL_PATH = /^(.+)\.\d+x\d+_q\d+(?:_crop-smart)?\.(jpg|png)$/s;

export function parseThumbnailPath(path: string): { image: string; alias: string; png: boolean } | undefined {
  const [, image, ending] = THUMBNAIL_PATH.exec(path) ?? [];
  if (image === undefined) return undefined;
  const png = ending === 'png';
  const alias = [...THUMBNAILS.keys()].find((candidate) => thumbnailPath(image, candidate, png) === path);
  return alias === undefined ? undefined : { image, alias, png };
}

/** The path of an image, followed by those of all thumbnails that it may have. */
export const imageAndThumbnailPaths = (path: string): string[] => [
  path,
  ...[...THUMBNAILS.keys()].flatMap((alias) => [thumbnailPath(path, alias, false), thumbnailPath(path, alias, true)]),
];

/** Whether a path has the form of a thumbnail path; an upload must not pass for the thumbnail of another image. */
export const looksLikeThumbnail = (path: string): boolean => THUMBNAIL_PATH.test(path);

/** Whether a path can belong to a row: without path traversal, NUL characters, and empty or hidden segments. */
export const isMediaPath = (path: string): boolean =>
  !path.includes('\0') && !path.split(/[/\\]/).some((part) => part === '' || part.startsWith('.'));

/** The URL of a file in the store, without scheme and host. */
export const mediaUrl = (path: string): string => `/media/${path.split('/').map(encodeURIComponent).join('/')}`;

/** Part of no stored path. */
const NO_PATH = '\0';

/**
 * The stored path for a condition on the URL of a file: of the file itself, or the beginning of paths for `startsWith`. `contains`, `endsWith` and `search`
 * compare the path, so their text stays as it is.
 */
export function storedPath(text: string, operator: string, insensitive: boolean, baseUrl: string): string {
  if (['contains', 'endsWith', 'search'].includes(operator)) return text;
  const fold = (url: string) => (insensitive ? url.toLowerCase() : url);
  const folder = baseUrl + mediaUrl('');
  if (!fold(text).startsWith(fold(folder))) return operator === 'startsWith' && fold(folder).startsWith(fold(text)) ? '' : NO_PATH;
  try {
    return decodeURIComponent(text.slice(folder.length));
  } catch {
    return NO_PATH;
  }
}

const MAX_CLIENT_NAME_LENGTH = 255;

/** The file name that a client sent, without folders and control characters; empty if nothing remains. */
export function clientFileName(filename: string): string {
  const name = filename.split(/[/\\]/).at(-1)!.replace(/\p{C}/gu, '');
  if (name === '.' || name === '..') return '';
  const characters = [...name];
  if (characters.length <= MAX_CLIENT_NAME_LENGTH) return name;
  const ending = [...endingOf(name)].slice(0, MAX_CLIENT_NAME_LENGTH);
  return [...characters.slice(0, MAX_CLIENT_NAME_LENGTH - ending.length), ...ending].join('');
}

/** Extension with its dot, `.png` for `a.png`; empty if the last dot is the first or the last character. */
function endingOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 && dot < name.length - 1 ? name.slice(dot) : '';
}

/** Extension in lower case without its dot, `png` for `A.PNG`. */
export const extensionOf = (name: string): string => endingOf(name).slice(1).toLowerCase();

const sanitize = (text: string) => text.replaceAll(' ', '_').replace(/[^-\p{L}\p{N}_.]/gu, '');

/** The sanitised name of a file in two parts: only letters, digits, `_`, `-` and `.`, and never hidden. */
export function sanitizeFileName(filename: string): { root: string; ending: string } {
  const name = clientFileName(filename).normalize('NFC').trim();
  const ending = endingOf(name);
  return { root: sanitize(name.slice(0, name.length - ending.length)).replace(/^\.+/, '') || 'image', ending: sanitize(ending) };
}

/** File systems allow names of 255 bytes, and names of thumbnails are longer by this suffix. */
const MAX_NAME_BYTES = 255 - Buffer.byteLength('.800x800_q90_crop-smart.jpg');

/** `folder/root<suffix><ending>` of at most `max` characters; the root is truncated to fit. */
export function fitPath(folder: string, { root, ending }: { root: string; ending: string }, suffix: string, max: number): string {
  const characters = [...root];
  const path = () => `${folder}/${characters.join('')}${suffix}${ending}`;
  while (characters.length > 1 && ([...path()].length > max || Buffer.byteLength(path()) - Buffer.byteLength(folder) - 1 > MAX_NAME_BYTES))
    characters.pop();
  return path();
}
