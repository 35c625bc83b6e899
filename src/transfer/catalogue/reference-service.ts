/**
 * Exercises of a running service with the REST API v2 (2.0 or newer), read page by page: in version
 * 2.0 each row is a translation, in newer ones an exercise with its translations.
 */
import { failImport } from '../dump';
import { isExercise, type SourceExercise } from './exercise';
import { failUnreadable, fetchDocument } from './fetch';

const PAGE_SIZE = 100;
const MAX_PAGES = 1_000;
const MAX_PAGE_MEGABYTES = 16;

interface Named {
  name: string;
}

interface Comment {
  comment: string;
}

interface Language {
  id: number;
  short_name: string;
}

/** A row as the service sends it. The exercise that it becomes is checked. */
interface ServiceRow extends Named {
  id: number;
  uuid: string;
  category: Named;
  muscles: Named[];
  muscles_secondary: Named[];
  equipment: Named[];
  license: { full_name: string; short_name: string; url: string | null };
  license_author: string | null;
  images: { image: string; is_main?: boolean }[];
  variations?: number | number[] | null;

  /** In newer versions, which have the texts of a translation here. */
  translations?: {
    uuid: string;
    name: string;
    description: string;
    language: number;
    aliases?: { alias: string }[];
    notes?: Comment[];
  }[];
  description: string;
  language: Language;
  comments: Comment[];
}

/** `parse` throws if a row is not as expected. */
async function* readRows<T>(first: URL, parse: (row: never) => T): AsyncGenerator<T> {
  let next: URL | undefined = first;

  for (let page = 0; next && page < MAX_PAGES; page += 1) {
    // A service behind a proxy may link to its inner address.
    next.protocol = first.protocol;
    next.host = first.host;
    const { href }: URL = next;
    const body = await fetchDocument(href, MAX_PAGE_MEGABYTES)
      .then((bytes) => JSON.parse(bytes.toString()) as { results: never[]; next: string | null })
      .catch((error) => failUnreadable(href, error));
    let rows: T[];

    try {
      rows = body.results.map(parse);
      next = body.next === null ? undefined : new URL(body.next);
    } catch {
      return failImport(`${href} is not a page of a service of version 2.0 or newer.`);
    }

    yield* rows;
  }
}

const namesOf = (rows: readonly Named[]): string[] => rows.map(({ name }) => name);
const textsOf = (comments: readonly Comment[]): string[] => comments.map(({ comment }) => comment);

/** `address` is that of the service, with or without `/api/v2/`. */
export async function* readReferenceService(address: string): AsyncGenerator<SourceExercise> {
  const base = `${address.replace(/\/api\/v2.*$|\/$/, '')}/api/v2/`;
  const source = new URL(base).host;
  const languages = new Map<number, string>();

  function parse({ variations, license, translations, ...row }: ServiceRow): SourceExercise {
    // A number, or those of all exercises of the group.
    const [variation] = [variations ?? []].flat().sort((a, b) => a - b);
    const exercise = {
      source,
      sourceId: String(row.id),
      uuid: translations && row.uuid,
      category: row.category.name,
      muscles: namesOf(row.muscles),
      secondaryMuscles: namesOf(row.muscles_secondary),
      equipment: namesOf(row.equipment),
      license: {
        shortName: license.short_name,
        fullName: license.full_name,
        url: license.url ?? undefined,
      },
      author: row.license_author ?? undefined,
      variation: variation === undefined ? undefined : `${source} ${variation}`,
      translations: translations?.map(
        ({ language, aliases = [], notes = [], uuid, name, description }) => ({
          uuid,
          name,
          description,
          language: languages.get(language) ?? '',
          aliases: aliases.map(({ alias }) => alias),
          comments: textsOf(notes),
        }),
      ) ?? [
        {
          uuid: row.uuid,
          language: row.language.short_name,
          name: row.name,
          description: row.description,
          aliases: [],
          comments: textsOf(row.comments),
        },
      ],
      images: row.images
        .sort((a, b) => Number(b.is_main) - Number(a.is_main))
        .map(({ image }) => image),
    };

    if (!isExercise(exercise)) throw new TypeError();

    return exercise;
  }

  const addLanguage = ({ id, short_name }: Language) => languages.set(id, short_name);

  for await (const _ of readRows(new URL('language/?limit=100', base), addLanguage));
  yield* readRows(new URL(`exerciseinfo/?limit=${PAGE_SIZE}`, base), parse);
}
