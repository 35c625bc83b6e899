/**
 * Exercises of a running service with the REST API v2 (2.0 or newer), read page by page: in version
 * 2.0 each row is a translation, in newer ones an exercise with its translations.
 */
import { MAX_INTEGER } from '../../shared/bounds';
import { failImport } from '../dump';
import {
  hasFields,
  isInteger,
  isListOf,
  isName,
  isNullable,
  isOptional,
  isText,
  isUuid,
  type Check,
  type Checked,
} from './checks';
import { failUnreadable, fetchDocument } from './fetch';
import type { SourceExercise } from './exercise';

const PAGE_SIZE = 100;
const MAX_PAGES = 1_000;
const MAX_PAGE_MEGABYTES = 16;

const isId = isInteger(MAX_INTEGER);
const isTerm = hasFields({ name: isName(50) });
const isComment = hasFields({ comment: isText(10_000) });
const isRow = hasFields({
  id: isId,
  uuid: isUuid,
  category: hasFields({ name: isName(100) }),
  muscles: isListOf(isTerm),
  muscles_secondary: isListOf(isTerm),
  equipment: isListOf(isTerm),
  license: hasFields({
    full_name: isText(60),
    short_name: isName(15),
    url: isNullable(isText(200)),
  }),
  license_author: isNullable(isText(200)),
  images: isListOf(hasFields({ image: isText(2_000) })),
});
const isRowOfVersion20 = hasFields({
  name: isText(200),
  description: isText(2_000),
  language: hasFields({ short_name: isText(2) }),
  comments: isListOf(isComment),
});
const isNewerRow = hasFields({
  translations: isListOf(
    hasFields({
      uuid: isUuid,
      name: isText(200),
      description: isText(2_000),
      language: isId,
      aliases: isOptional(isListOf(hasFields({ alias: isText(200) }))),
      notes: isOptional(isListOf(isComment)),
    }),
  ),
});
const isLanguage = hasFields({ id: isId, short_name: isText(2) });

type Row = Checked<typeof isRow> &
  (Checked<typeof isNewerRow> | Checked<typeof isRowOfVersion20>) & {
    images: { is_main?: unknown }[];
    variations?: unknown;
  };

const isExercise: Check<Row> = (value): value is Row =>
  isRow(value) && ('translations' in value ? isNewerRow(value) : isRowOfVersion20(value));

async function* readRows<T>(first: URL, isRowOfPage: Check<T>): AsyncGenerator<T> {
  const isPage = hasFields({
    results: isListOf(isRowOfPage),
    next: isNullable((next): next is string => isText(2_000)(next) && URL.canParse(next)),
  });
  let next: string | null = first.href;

  for (let page = 0; next !== null && page < MAX_PAGES; page += 1) {
    const url = new URL(next);

    // A service behind a proxy may link to its inner address.
    url.protocol = first.protocol;
    url.host = first.host;
    const body = await fetchDocument(url.href, MAX_PAGE_MEGABYTES)
      .then(({ bytes }) => JSON.parse(bytes.toString()) as unknown)
      .catch((error) => failUnreadable(url.href, error));

    if (!isPage(body)) {
      return failImport(`${url.href} is not a page of a service of version 2.0 or newer.`);
    }

    yield* body.results;
    next = body.next;
  }
}

/** A number, or those of all exercises of the group. */
function variationOf(variations: unknown): number | undefined {
  const variation = Array.isArray(variations) ? Math.min(...variations) : variations;

  return Number.isInteger(variation) ? (variation as number) : undefined;
}

/** `address` is that of the service, with or without `/api/v2/`. */
export async function* readReferenceService(address: string): AsyncGenerator<SourceExercise> {
  const base = `${address.replace(/\/api\/v2.*$|\/$/, '')}/api/v2/`;
  const source = new URL(base).host;
  const languages = new Map<number, string>();

  for await (const { id, short_name } of readRows(
    new URL('language/?limit=100', base),
    isLanguage,
  )) {
    languages.set(id, short_name);
  }

  const exercisesUrl = new URL(`exerciseinfo/?limit=${PAGE_SIZE}`, base);

  for await (const row of readRows(exercisesUrl, isExercise)) {
    const names = (list: readonly { name: string }[]) => list.map(({ name }) => name);
    const { license } = row;
    const variation = variationOf(row.variations);

    yield {
      source,
      sourceId: String(row.id),
      uuid: 'translations' in row ? row.uuid : undefined,
      category: row.category.name,
      muscles: names(row.muscles),
      secondaryMuscles: names(row.muscles_secondary),
      equipment: names(row.equipment),
      license: {
        shortName: license.short_name,
        fullName: license.full_name,
        url: license.url ?? undefined,
      },
      author: row.license_author ?? undefined,
      variation: variation === undefined ? undefined : `${source} ${variation}`,
      translations:
        'translations' in row
          ? row.translations.map(({ language, aliases = [], notes = [], ...translation }) => ({
              ...translation,
              language: languages.get(language) ?? '',
              aliases: aliases.map(({ alias }) => alias),
              comments: notes.map(({ comment }) => comment),
            }))
          : [
              {
                uuid: row.uuid,
                language: row.language.short_name,
                name: row.name,
                description: row.description,
                aliases: [],
                comments: row.comments.map(({ comment }) => comment),
              },
            ],
      images: [...row.images]
        .sort((a, b) => Number(b.is_main) - Number(a.is_main))
        .map(({ image }) => image),
    };
  }
}
