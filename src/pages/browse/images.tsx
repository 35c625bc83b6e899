/** Images that an answer names, as thumbnails. */
import { mediaUrl, thumbnailName } from '../../files/paths';
import type { HtmlView } from './view/view';

interface Picture {
  src: string;
  /** Where it is in full; itself if absent. */
  href?: string;
  alt: string;
  width: number;
  height: number;
}

const MAX_PICTURES = 40;
const SIDE = 160;
const PICTURE = /\.(png|jpe?g|gif|webp|avif|svg)$/i;

const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object';

/** Only what we serve ourselves: the address below our own host, else nothing. */
function own(value: unknown, baseUrl: string): string | undefined {
  if (typeof value !== 'string' || !PICTURE.test(value)) return undefined;
  if (value.startsWith(`${baseUrl}/`)) return value.slice(baseUrl.length);
  return /^\/[a-z]/i.test(value) ? value : undefined;
}

/** Of what was uploaded; made when a browser first asks for it. */
const thumbnail = (src: string, alias = 'small') => (src.startsWith(mediaUrl('')) ? thumbnailName(src, alias, false) : src);

/** Of an image that we serve; nothing of any other. */
export function thumbnailOf(image: string, baseUrl: string, alias: string): string | undefined {
  const src = own(image, baseUrl);
  return src && thumbnail(src, alias);
}

/** `{ small: { url, settings: { size: [w, h] } }, …, original: url }`. */
function sizes(body: unknown, { id, baseUrl }: HtmlView): Picture[] {
  if (!isObject(body)) return [];
  return Object.entries(body).flatMap(([name, entry]): Picture[] => {
    if (!isObject(entry) || !isObject(entry.settings)) return [];
    const src = own(entry.url, baseUrl);
    const [width, height] = Array.isArray(entry.settings.size) ? (entry.settings.size as unknown[]).map(Number) : [];
    return src && width && height ? [{ src, alt: `Image ${id}, ${name.replaceAll('_', ' ')}`, width, height }] : [];
  });
}

/** Every `image` of every row, told apart by the nearest name and id around it. */
function pictures(value: unknown, { baseUrl }: HtmlView, name = '', found: Picture[] = []): Picture[] {
  if (found.length >= MAX_PICTURES || !isObject(value)) return found;
  if (Array.isArray(value)) {
    for (const item of value) pictures(item, { baseUrl } as HtmlView, name, found);
    return found;
  }
  const named = typeof value.name === 'string' ? value.name : name;
  const src = own(value.image, baseUrl);
  const alt = named ? `Image of ${named}` : `Image ${String(value.id ?? '')}`.trim();
  if (src) found.push({ src: thumbnail(src), href: src, alt, width: SIDE, height: SIDE });
  for (const inner of Object.values(value)) if (isObject(inner)) pictures(inner, { baseUrl } as HtmlView, named, found);
  return found;
}

/** Of muscles, where they are what is shown; among other things there would be too many. */
function drawings(body: unknown, { baseUrl }: HtmlView): Picture[] {
  const rows = isObject(body) && Array.isArray(body.results) ? (body.results as unknown[]) : [body];
  return rows.flatMap((row): Picture[] => {
    const src = isObject(row) ? own(row.image_url_main, baseUrl) : undefined;
    return src ? [{ src, alt: `Drawing of ${String((row as { name: unknown }).name)}`, width: SIDE, height: SIDE }] : [];
  });
}

export function Images({ view }: { view: HtmlView }) {
  const { body, status } = view;
  if (status >= 300) return null;
  const scaled = sizes(body, view);
  const shown = scaled.length ? scaled : [...drawings(body, view), ...pictures(body, view)];
  if (shown.length === 0) return null;
  return (
    <section aria-label="Images">
      <ul class={scaled.length ? 'pictures sizes' : 'pictures'}>
        {shown.map(({ src, href = src, alt, width, height }, index) => (
          <li key={index}>
            <a href={href}>
              <img src={src} alt={alt} width={width} height={height} loading="lazy" />
            </a>
            {scaled.length > 0 && <span class="help">{`${alt.split(', ')[1]} (${width} × ${height})`}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
