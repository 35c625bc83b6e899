/** Images that a response refers to, as thumbnails. */
import { IMAGE_EXTENSIONS } from '../../files/formats';
import { mediaUrl, thumbnailPath } from '../../files/paths';
import type { HtmlView } from './view/viewmodel';

interface Picture {
  src: string;
  /** URL of the image in full size; by default `src`, the URL of the displayed image. */
  href?: string;
  alt: string;
  width: number;
  height: number;
}

const MAX_PICTURES = 40;
const THUMBNAIL_SIZE = 160;
/** Matches the file names of uploaded images, and of the drawings of muscles (SVG). */
const IMAGE_EXTENSION_PATTERN = new RegExp(`\\.(${[...IMAGE_EXTENSIONS, 'svg'].join('|')})$`, 'i');

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object';

/** Returns the path of an image on this server; undefined for other URLs. */
function localImagePath(value: unknown, baseUrl: string): string | undefined {
  if (typeof value !== 'string' || !IMAGE_EXTENSION_PATTERN.test(value)) return undefined;
  if (value.startsWith(`${baseUrl}/`)) return value.slice(baseUrl.length);
  return /^\/[a-z]/i.test(value) ? value : undefined;
}

/** Returns the path of the thumbnail of an uploaded image; the thumbnail is generated at the first request for it. Returns other paths unchanged. */
const thumbnailPathOf = (src: string, alias = 'small') =>
  src.startsWith(mediaUrl('')) ? thumbnailPath(src, alias, false) : src;

/** Returns the path of the thumbnail of an image on this server; undefined for images of other servers. */
export function localThumbnailPath(
  imageUrl: string,
  baseUrl: string,
  alias: string,
): string | undefined {
  const src = localImagePath(imageUrl, baseUrl);
  return src && thumbnailPathOf(src, alias);
}

/** Returns the thumbnails in a response of the form `{ small: { url, settings: { size: [w, h] } }, …, original: url }`. */
function sizedThumbnailsOf(body: unknown, { rowId, baseUrl }: HtmlView): Picture[] {
  if (!isObject(body)) return [];
  return Object.entries(body).flatMap(([name, entry]): Picture[] => {
    if (!isObject(entry) || !isObject(entry.settings)) return [];
    const src = localImagePath(entry.url, baseUrl);
    const [width, height] = Array.isArray(entry.settings.size)
      ? (entry.settings.size as unknown[]).map(Number)
      : [];
    return src && width && height
      ? [{ src, alt: `Image ${rowId}, ${name.replaceAll('_', ' ')}`, width, height }]
      : [];
  });
}

/** Collects the `image` of every row at any depth. Its alternative text has the name of the row, or of the nearest row around it, or else the id. */
function collectPictures(
  value: unknown,
  baseUrl: string,
  name = '',
  result: Picture[] = [],
): Picture[] {
  if (result.length >= MAX_PICTURES || !isObject(value)) return result;
  if (Array.isArray(value)) {
    for (const item of value) collectPictures(item, baseUrl, name, result);
    return result;
  }
  const nearestRowName = typeof value.name === 'string' ? value.name : name;
  const src = localImagePath(value.image, baseUrl);
  const alt = nearestRowName
    ? `Image of ${nearestRowName}`
    : `Image ${String(value.id ?? '')}`.trim();
  if (src)
    result.push({
      src: thumbnailPathOf(src),
      href: src,
      alt,
      width: THUMBNAIL_SIZE,
      height: THUMBNAIL_SIZE,
    });
  for (const inner of Object.values(value))
    if (isObject(inner)) collectPictures(inner, baseUrl, nearestRowName, result);
  return result;
}

/** Returns the drawing of a muscle, but only if the response is that muscle: muscles nested in other rows would be too many. */
function muscleDrawing(body: unknown, { baseUrl }: HtmlView): Picture[] {
  const src = isObject(body) && localImagePath(body.image_url_main, baseUrl);
  return src
    ? [
        {
          src,
          alt: `Drawing of ${String(body.name)}`,
          width: THUMBNAIL_SIZE,
          height: THUMBNAIL_SIZE,
        },
      ]
    : [];
}

export function ThumbnailList({ view }: { view: HtmlView }) {
  const { body, status } = view;
  if (status >= 300) return null;
  const sizedPictures = sizedThumbnailsOf(body, view);
  const visiblePictures = sizedPictures.length
    ? sizedPictures
    : [...muscleDrawing(body, view), ...collectPictures(body, view.baseUrl)];
  if (visiblePictures.length === 0) return null;
  return (
    <section aria-label="Images">
      <ul class={sizedPictures.length ? 'pictures sizes' : 'pictures'}>
        {visiblePictures.map(({ src, href = src, alt, width, height }, index) => (
          <li key={index}>
            <a href={href}>
              <img src={src} alt={alt} width={width} height={height} loading="lazy" />
            </a>
            {sizedPictures.length > 0 && (
              <span class="help">{`${alt.split(', ')[1]} (${width} × ${height})`}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
