/** Names of image files: what the thumbnails of a file are called, the URL of a path. */

export interface Thumbnail {
  /** The longer side of the square that it fits into, or fills where it is cropped. */
  readonly size: number;
  readonly cropped: boolean;
  readonly quality: number;
}

const SIZES = { micro: 30, thumbnail: 80, small: 200, medium: 400, large: 800 };
const USUAL_QUALITY = 85;
const LARGE_QUALITY = 90;

/** By alias, in the order in which they are shown. */
export const THUMBNAILS: ReadonlyMap<string, Thumbnail> = new Map(
  Object.entries(SIZES).flatMap(([alias, size]) => {
    const quality = alias === 'large' ? LARGE_QUALITY : USUAL_QUALITY;
    return [
      [alias, { size, cropped: false, quality }],
      [`${alias}_cropped`, { size, cropped: true, quality }],
    ] as [string, Thumbnail][];
  }),
);

/** The path of a thumbnail, beside its image. `png`: the image has transparency, which JPEG has not. */
export function thumbnailName(path: string, alias: string, png: boolean): string {
  const { size, cropped, quality } = THUMBNAILS.get(alias)!;
  return `${path}.${size}x${size}_q${quality}${cropped ? '_crop-smart' : ''}.${png ? 'png' : 'jpg'}`;
}

/** The URL of a path below the media folder, without scheme and host. */
export const mediaUrl = (path: string): string => `/media/${path.split('/').map(encodeURIComponent).join('/')}`;
