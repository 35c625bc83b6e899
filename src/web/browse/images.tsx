/** Images of rows, as thumbnails. */
import { IMAGE_EXTENSIONS } from '../../files/formats';
import { mediaUrl, thumbnailPath } from '../../files/paths';

/** Matches uploaded images and the SVG drawings of muscles. */
const IMAGE_EXTENSION_PATTERN = new RegExp(`\\.(${[...IMAGE_EXTENSIONS, 'svg'].join('|')})$`, 'i');

/** Converts the URL of an image on this server to its path. */
export function localImagePath(imageUrl: string, baseUrl: string): string | undefined {
  if (!IMAGE_EXTENSION_PATTERN.test(imageUrl)) return undefined;
  if (imageUrl.startsWith(`${baseUrl}/`)) return imageUrl.slice(baseUrl.length);

  // A URL without a host begins with the base path.
  const { pathname: basePath } = new URL(baseUrl);
  const isOfThisServer = /^\/[a-z]/i.test(imageUrl) && imageUrl.startsWith(basePath);

  return isOfThisServer ? imageUrl.slice(basePath.replace(/\/$/, '').length) : undefined;
}

/**
 * Replaces the path of an uploaded image by the path of its thumbnail, which the first request
 * generates.
 */
export const thumbnailSrcOf = (src: string, alias: string) =>
  src.startsWith(mediaUrl('', '')) ? thumbnailPath(src, alias, false) : src;
