/** Paths of image files: what a client's name becomes, what the thumbnails of a file are called, the URL of a path. */

export interface Thumbnail {
  /** The longer side of the square that it fits into, or fills where it is cropped. */
  readonly size: number;
  readonly cropped: boolean;
  readonly quality: number;
}

/** In pixels, by alias. */
export const SIZES = { micro: 30, thumbnail: 80, small: 200, medium: 400, large: 800 };
export const USUAL_QUALITY = 85;
const LARGE_QUALITY = 90;

export const croppedAlias = (alias: string): string => `${alias}_cropped`;

/** By alias, in the order in which they are shown. */
export const THUMBNAILS: ReadonlyMap<string, Thumbnail> = new Map(
  Object.entries(SIZES).flatMap(([alias, size]) => {
    const quality = alias === 'large' ? LARGE_QUALITY : USUAL_QUALITY;
    return [
      [alias, { size, cropped: false, quality }],
      [croppedAlias(alias), { size, cropped: true, quality }],
    ] as [string, Thumbnail][];
  }),
);

/** The path of a thumbnail, beside its image. `png`: of an image that has transparency, which JPEG has not, or is a GIF. */
export function thumbnailName(path: string, alias: string, png: boolean): string {
  const { size, cropped, quality } = THUMBNAILS.get(alias)!;
  return `${path}.${size}x${size}_q${quality}${cropped ? '_crop-smart' : ''}.${png ? 'png' : 'jpg'}`;
}

const THUMBNAIL_PATH = /^(.+)\.\d+x\d+_q\d+(?:_crop-smart)?\.(jpg|png)$/s;

export function thumbnailOf(path: string): { image: string; alias: string; png: boolean } | undefined {
  const [, image, ending] = THUMBNAIL_PATH.exec(path) ?? [];
  if (image === undefined) return undefined;
  const png = ending === 'png';
  const alias = [...THUMBNAILS.keys()].find((candidate) => thumbnailName(image, candidate, png) === path);
  return alias === undefined ? undefined : { image, alias, png };
}

/** Every file that the image at this path may have led to, itself first. */
export const filesOf = (path: string): string[] => [
  path,
  ...[...THUMBNAILS.keys()].flatMap((alias) => [thumbnailName(path, alias, false), thumbnailName(path, alias, true)]),
];

/** Whether a path has the form of a thumbnail's; an upload must not pass for the thumbnail of another image. */
export const looksLikeThumbnail = (path: string): boolean => THUMBNAIL_PATH.test(path);

/** Whether it is one of a file of rows: one that leads nowhere else, and into nothing that is hidden. */
export const isPath = (path: string): boolean =>
  !path.includes('\0') && !path.split(/[/\\]/).some((part) => part === '' || part.startsWith('.'));

/** The URL of a path below the media folder, without scheme and host. */
export const mediaUrl = (path: string): string => `/media/${path.split('/').map(encodeURIComponent).join('/')}`;

const MAX_CLIENT_NAME = 255;

/** The name that a client gave, without the folders before it; empty where nothing is left of it. */
export function lastPart(filename: string): string {
  const name = filename.split(/[/\\]/).at(-1)!.replace(/\p{C}/gu, '');
  if (name === '.' || name === '..') return '';
  const characters = [...name];
  if (characters.length <= MAX_CLIENT_NAME) return name;
  const ending = [...endingOf(name)].slice(0, MAX_CLIENT_NAME);
  return [...characters.slice(0, MAX_CLIENT_NAME - ending.length), ...ending].join('');
}

/** `.png` of `a.png`; empty where the only dot is the first or the last character. */
function endingOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 && dot < name.length - 1 ? name.slice(dot) : '';
}

/** `png` of `A.PNG`. */
export const extensionOf = (name: string): string => endingOf(name).slice(1).toLowerCase();

const clean = (text: string) => text.replaceAll(' ', '_').replace(/[^-\p{L}\p{N}_.]/gu, '');

/** The name under which a file is kept, in two parts: letters, digits, `_`, `-` and `.` only, and never hidden. */
export function cleanName(filename: string): { root: string; ending: string } {
  const name = lastPart(filename).normalize('NFC').trim();
  const ending = endingOf(name);
  return { root: clean(name.slice(0, name.length - ending.length)).replace(/^\.+/, '') || 'image', ending: clean(ending) };
}

/** File systems allow 255 bytes; the names of thumbnails are this much longer. */
const MAX_BYTES = 255 - Buffer.byteLength('.800x800_q90_crop-smart.jpg');

/** `folder/root<suffix><ending>` of at most `max` characters; the root gives way. */
export function fittedPath(folder: string, { root, ending }: { root: string; ending: string }, suffix: string, max: number): string {
  const characters = [...root];
  const path = () => `${folder}/${characters.join('')}${suffix}${ending}`;
  while (characters.length > 1 && ([...path()].length > max || Buffer.byteLength(path()) - Buffer.byteLength(folder) - 1 > MAX_BYTES))
    characters.pop();
  return path();
}
