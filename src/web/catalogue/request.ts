/** Requests to the pages of the catalogue, and the types that these pages show. */
import type { ComponentChildren } from 'preact';
import { notFoundError } from '../../engine/declare/errors';
import type { Entity } from '../../engine/declare/fields';
import { labelFor, nounOf } from '../../engine/declare/inflection';
import { allEntities, resourceOf } from '../../engine/declare/registry';
import { isMergeable } from '../../engine/write/references';
import type { RequestContext } from '../../request/request-context';
import { textParameter, type FormValues } from '../html-response';
import type { Crumb, Visitor } from '../layout';
import type { CatalogueOperations } from './operations';

export const CATALOGUE_PATH = '/catalogue';
export const CHANGES_PATH = `${CATALOGUE_PATH}/changes`;

export interface CatalogueRequest {
  operations: CatalogueOperations;
  context: RequestContext;
  visitor: Visitor;
  query: FormValues;
  body: FormValues;
  params: Readonly<Record<string, string>>;
}

export interface CataloguePage {
  title: string;
  crumbs?: readonly Crumb[];
  content: ComponentChildren;
  hasTimes?: boolean;

  /** Whether the page shows why an action was rejected. */
  isRejection?: boolean;
}

/** A text of the query string or the form, without leading and trailing whitespace. */
export const textOf = (values: FormValues, name: string): string =>
  textParameter(values, name)?.trim() ?? '';

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
