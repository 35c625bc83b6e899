/**
 * Exercises of a running service with the REST API v2 (2.0 or newer), read page by page: in version
 * 2.0 each row is a translation, in newer ones an exercise with its translations.
 */
import { failImport } from '../dump';
import type { SourceExercise, SourceTranslation } from './exercise';

const PAGE_SIZE = 100;
const MAX_PAGES = 1_000;
const TIMEOUT_MS = 30_000;

interface Named {
  id: number;
  name: string;
}

interface InfoRow {
  id: number;
  uuid: string;
  name?: string;
  description?: string;
  language?: { id: number; short_name: string };
  category: Named;
  muscles: Named[];
  muscles_secondary: Named[];
  equipment: Named[];
  license: { full_name: string; short_name: string; url: string | null };
  license_author: string | null;
  images: { image: string; is_main: boolean }[];
  comments?: { comment: string }[];
  variations?: number | number[] | null;
  translations?: {
    uuid: string;
    name: string;
    description: string;
    language: number;
    aliases?: { alias: string }[];
    notes?: { comment: string }[];
  }[];
}

async function* readRows<T>(first: URL): AsyncGenerator<T> {
  let next: string | null = first.href;

  for (let page = 0; next !== null && page < MAX_PAGES; page += 1) {
    const url = new URL(next);

    // A service behind a proxy may link to its inner address.
    url.protocol = first.protocol;
    url.host = first.host;
    const response = await fetch(url, {
      headers: { Accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: Error) =>
      failImport(`${url.href} cannot be read: ${String(error.cause ?? error.message)}`),
    );

    if (!response.ok) failImport(`${url.href} cannot be read: status ${response.status}`);
    const body = (await response.json()) as { results: T[]; next: string | null };

    yield* body.results;
    next = body.next;
  }
}

const translationOf = (row: InfoRow): SourceTranslation => ({
  uuid: row.uuid,
  language: row.language!.short_name,
  name: row.name!,
  description: row.description!,
  aliases: [],
  comments: row.comments!.map(({ comment }) => comment),
});

/** `address` is that of the service, with or without `/api/v2/`. */
export async function* readReferenceService(address: string): AsyncGenerator<SourceExercise> {
  const base = `${address.replace(/\/api\/v2.*$|\/$/, '')}/api/v2/`;
  const source = new URL(base).host;
  const languages = new Map<number, string>();

  for await (const { id, short_name } of readRows<{ id: number; short_name: string }>(
    new URL('language/?limit=100', base),
  )) {
    languages.set(id, short_name);
  }

  for await (const row of readRows<InfoRow>(new URL(`exerciseinfo/?limit=${PAGE_SIZE}`, base))) {
    const names = (list: readonly Named[]) => list.map(({ name }) => name);
    const { license, translations } = row;
    const variation = Array.isArray(row.variations) ? Math.min(...row.variations) : row.variations;

    yield {
      source,
      sourceId: String(row.id),
      uuid: translations ? row.uuid : undefined,
      category: row.category.name,
      muscles: names(row.muscles),
      secondaryMuscles: names(row.muscles_secondary),
      equipment: names(row.equipment),
      license: { shortName: license.short_name, fullName: license.full_name, url: license.url },
      author: row.license_author ?? undefined,
      variation: variation && Number.isFinite(variation) ? `${source} ${variation}` : undefined,
      translations: translations
        ? translations.map(({ language, aliases = [], notes = [], ...translation }) => ({
            ...translation,
            language: languages.get(language) ?? '',
            aliases: aliases.map(({ alias }) => alias),
            comments: notes.map(({ comment }) => comment),
          }))
        : [translationOf(row)],
      images: [...row.images]
        .sort((a, b) => Number(b.is_main) - Number(a.is_main))
        .map(({ image }) => image),
    };
  }
}
