/** What a search of the catalogue prefers: languages of the viewer, and rows used before. */
import { hasReadScope, ownerConditions } from '../../engine/access/access';
import {
  anyOf,
  columnIsOneOf,
  whereClause,
  type SqlCondition,
} from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import type { Entity } from '../../engine/declare/fields';
import { resourceOf, type SearchPreferences } from '../../engine/declare/registry';
import { Language } from './language';

/** Ids of the languages of Accept-Language. */
export const requestedLanguageIds = ({ request, services: { catalogue } }: Context): number[] =>
  request.languages.flatMap((code) =>
    catalogue
      .rowsOf<{ id: number; shortName: string }>(Language)
      .filter(({ shortName }) => shortName === code)
      .map(({ id }) => id),
  );

/** `users` are owned resources with a column that refers to the rows. */
export const searchPreferences =
  (column: string, users: () => Entity[], { hasLanguage = true } = {}) =>
  (context: Context): SearchPreferences => {
    const readable = context.viewer
      ? users().filter((entity) => hasReadScope(entity, context))
      : [];

    const isUsedIn =
      (entity: Entity): SqlCondition =>
      (alias, bind) =>
        `${alias}."id" IN (SELECT u."${column}" FROM "${resourceOf(entity)!.table}" u${whereClause(ownerConditions(entity, context), 'u', bind)})`;

    return {
      inLanguage: hasLanguage
        ? columnIsOneOf('language_id', requestedLanguageIds(context))
        : undefined,
      used: readable.length ? anyOf(readable.map(isUsedIn)) : undefined,
    };
  };
