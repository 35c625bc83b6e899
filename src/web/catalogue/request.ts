/** Requests to the pages of the catalogue, and the types that these pages show. */
import { notFoundError } from '../../engine/declare/errors';
import type { Entity } from '../../engine/declare/fields';
import { labelFor, nounOf } from '../../engine/declare/inflection';
import { allEntities, resourceOf } from '../../engine/declare/registry';
import { isMergeable } from '../../engine/write/references';
import type { UserRequest } from '../account/user-pages';
import type { Crumb } from '../layout';
import type { CatalogueOperations } from './operations';

export const CATALOGUE_PATH = '/catalogue';
export const CATALOGUE_START: Crumb = { label: 'Catalogue', href: CATALOGUE_PATH };
export const CHANGES_PATH = `${CATALOGUE_PATH}/changes`;

export interface CatalogueRequest extends UserRequest {
  operations: CatalogueOperations;
}

/** The type in the path. Types that the user cannot write are not found. */
export function entityOf({ operations, params }: CatalogueRequest): Entity {
  const entities = operations.isCurator ? catalogueEntities() : contributedEntities();
  const entity = entities.find((candidate) => resourceOf(candidate)!.singularName === params.type);

  if (!entity) throw notFoundError();

  return entity;
}

/** Path of the list of a type, or of one of its rows. */
export const cataloguePath = (entity: Entity, id?: string | number): string =>
  [CATALOGUE_PATH, resourceOf(entity)!.singularName, id]
    .filter((part) => part !== undefined)
    .join('/');

/** Noun for a row: people call an ingredient a food. */
export const rowNounOf = ({ name }: Entity): string => nounOf(name).replace('ingredient', 'food');

export const listTitleOf = (entity: Entity): string =>
  labelFor(resourceOf(entity)!.pluralName).replace('Ingredient', 'Food').replace(' list', '');

/** Types of the catalogue that curators write, by title. */
export const catalogueEntities = (): Entity[] =>
  allEntities()
    .filter((entity) => {
      const { isOwned, metadata } = resourceOf(entity)!;

      return !isOwned && metadata.createMutationName !== undefined;
    })
    .sort((a, b) => listTitleOf(a).localeCompare(listTitleOf(b)));

/** Types to which every user contributes. */
export const contributedEntities = (): Entity[] => catalogueEntities().filter(isMergeable);

export const listCrumbOf = (entity: Entity): Crumb => ({
  label: listTitleOf(entity),
  href: cataloguePath(entity),
});
