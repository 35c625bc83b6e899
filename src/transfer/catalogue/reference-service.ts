/**
 * Exercises of a running service with the REST API v2 (2.0 or newer), read page by page: in version
 * 2.0 each row is a translation, in newer ones an exercise with its translations.
 */
import { MAX_INTEGER } from '../../shared/bounds';
import { failImport } from '../dump';
import { hasFields, isListOf, isNumber, isOptional, isText, isUuid, type Check } from './checks';
import { fetchDocument } from './fetch';
import type { SourceExercise, SourceTranslation } from './exercise';

const PAGE_SIZE = 100;
const MAX_PAGES = 1_000;
const MAX_PAGE_MEGABYTES = 16;

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

const isNamed = hasFields({ name: isText(100) });
const isComment = hasFields({ comment: isText(10_000) });
const isOldRow = hasFields({
  uuid: isUuid,
  name: isText(200),
  description: isText(2_000),
  language: hasFields({ short_name: isText(2) }),
  comments: isListOf(isComment),
});
const isTranslation = hasFields({
  uuid: isUuid,
  name: isText(200),
  description: isText(2_000),
  language: isNumber(MAX_INTEGER),
  aliases: isOptional(isListOf(hasFields({ alias: isText(200) }))),
  notes: isOptional(isListOf(isComment)),
});
const isSharedPart = hasFields({
  id: isNumber(MAX_INTEGER),
  category: isNamed,
  muscles: isListOf(isNamed),
  muscles_secondary: isListOf(isNamed),
  equipment: isListOf(isNamed),
  license: hasFields({
    full_name: isText(300),
    short_name: isText(60),
    url: (url) => url === null || isText(200)(url),
  }),
  license_author: (author) => author === null || isText(200)(author),
  images: isListOf(hasFields({ image: isText(2_000) })),
});
const isExercise: Check = (row) =>
  isSharedPart(row) &&
  ((row as InfoRow).translations
    ? hasFields({ uuid: isUuid, translations: isListOf(isTranslation) })(row)
    : isOldRow(row));
const isLanguage = hasFields({ id: isNumber(MAX_INTEGER), short_name: isText(2) });
const isPage = (isRow: Check) =>
  hasFields({
    results: isListOf(isRow),
    next: (next) => next === null || (isText(2_000)(next) && URL.canParse(String(next))),
  });

async function* readRows<T>(first: URL, isRow: Check): AsyncGenerator<T> {
  let next: string | null = first.href;

  for (let page = 0; next !== null && page < MAX_PAGES; page += 1) {
    const url = new URL(next);

    // A service behind a proxy may link to its inner address.
    url.protocol = first.protocol;
    url.host = first.host;
    const body = (await fetchDocument(url.href, MAX_PAGE_MEGABYTES)
      .then(({ bytes }) => JSON.parse(bytes.toString()) as unknown)
      .catch((error: Error) =>
        failImport(`${url.href} cannot be read: ${String(error.cause ?? error.message)}`),
      )) as { results: T[]; next: string | null };

    if (!isPage(isRow)(body)) {
      failImport(`${url.href} is not a page of a service of version 2.0 or newer.`);
    }

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
    isLanguage,
  )) {
    languages.set(id, short_name);
  }

  for await (const row of readRows<InfoRow>(
    new URL(`exerciseinfo/?limit=${PAGE_SIZE}`, base),
    isExercise,
  )) {
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
