/**
 * Reads a table of rows, or one row with its child rows, in a single GraphQL operation that
 * includes the names of related rows.
 */
import type { GraphQLObjectType } from 'graphql';
import type { ResourceEndpoint, PrepareOperation } from '../../../rest/endpoints';
import { childListPlanOf } from './child-list';
import { cellFormatterOf, headingOf, selectionOf, visibleFieldsOf, type Row } from './cells';
import { childFieldsOf } from './child-fields';
import { detailPath, type PageRoutes } from './page-routes';
import { rowNamingOf } from './row-names';
import { tablePlanOf } from './table-plan';
import type { DetailField, DetailRow, NamedRow, TableModel, TrainingPlan } from './view-model';
import { fieldLabelOf } from './labels';

const MAX_LINKS_PER_FIELD = 200;

/** Whether the user prefers pounds. Nutrients are then shown in ounces. */
export const prefersPounds = ({ unitSystem }: Row): boolean =>
  ['lb', 'IMPERIAL'].includes(String(unitSystem));

/** Daily energy goal of the user in kcal, for rows that are compared with it. */
function energyGoalOf({ hasGoalCalories, user }: Row): number | undefined {
  const owner = user as { profile: { calories: number | null } | null } | null | undefined;

  return (hasGoalCalories === true && owner?.profile?.calories) || undefined;
}

const ID_SELECTION = '{ id }';
const TRAINING_PLAN_SELECTION = `canonicalRepresentation {
  days { day { id name } weekdays { text } setGroups { setGroup { id } exercises { summary exercise { id name } } } }
  muscles { front ${ID_SELECTION} back ${ID_SELECTION} frontSecondary ${ID_SELECTION} backSecondary ${ID_SELECTION} }
}`;
const TRANSLATIONS_SELECTION =
  'sharedExercise: exercise { translations { id name language { fullName } } }';

interface Exercise {
  translations: (NamedRow & { language: { fullName: string } })[];
}

function detailSelection(type: GraphQLObjectType): string {
  const { canonicalRepresentation, exercise } = type.getFields();

  return [
    canonicalRepresentation && TRAINING_PLAN_SELECTION,
    exercise && TRANSLATIONS_SELECTION,
  ].join(' ');
}

function trainingPlanOf({ canonicalRepresentation }: Row): TrainingPlan | undefined {
  const trainingPlan = canonicalRepresentation as TrainingPlan | undefined;

  return trainingPlan?.days.length ? trainingPlan : undefined;
}

/**
 * Field with links to the other translations of an exercise, or to all translations of the exercise
 * of an image.
 */
function translationsField(type: GraphQLObjectType, { sharedExercise, id }: Row): DetailField {
  const isTranslation = 'languageId' in type.getFields();
  const links = ((sharedExercise as Exercise | null | undefined)?.translations ?? [])
    .filter((translation) => !isTranslation || String(translation.id) !== String(id))
    .map((translation) => ({
      label: `${translation.name} (${translation.language.fullName})`,
      id: String(translation.id),
      href: detailPath('exercise', translation.id),
    }));

  return {
    label: isTranslation ? 'Translations' : 'Exercises',
    key: 'translations',
    cell: { links },
  };
}

export class RowReader {
  constructor(
    private readonly prepareOperation: PrepareOperation,
    private readonly pageRoutes: PageRoutes,
  ) {}

  /** Reads the rows with these ids as a table, in this order. */
  async readTable(
    { type, resource, view }: ResourceEndpoint,
    ids: readonly string[],
    context: object,
  ): Promise<TableModel | undefined> {
    const { selection, tableOf } = tablePlanOf(type, view.restName, this.pageRoutes.endpointNameOf);

    if (ids.length === 0) return tableOf([]);
    const document = `query ($where: ${type.name}Where, $first: Int) { page: ${resource.listQueryName}(where: $where, first: $first) { nodes { ${selection} } } }`;
    const { data } = await this.prepareOperation(document)(context, {
      where: { id: { in: [...new Set(ids)] } },
      first: ids.length,
    });

    if (!data?.page) return undefined;
    const rowById = new Map((data.page.nodes as Row[]).map((row) => [String(row.id), row]));

    return tableOf(ids.map((id) => rowById.get(id)).filter((row) => row !== undefined));
  }

  async readDetailRow(
    { type, resource }: ResourceEndpoint,
    id: string,
    context: object,
    isSignedIn: boolean,
  ): Promise<DetailRow | undefined> {
    const childListPlans = childFieldsOf(type).flatMap((childField) => {
      const endpoint = this.pageRoutes.endpointOf(childField.childType.name);

      // Anonymous visitors do not get lists of owned rows. Such a list is not nullable, so its
      // error would make the whole parent null.
      if (!endpoint || (endpoint.resource.isOwned && !isSignedIn)) return [];

      return childListPlanOf(type, childField, endpoint, this.pageRoutes.endpointNameOf);
    });
    const fields = visibleFieldsOf(type).filter(({ name }) => name !== 'id');
    const { unitSystem, hasGoalCalories } = type.getFields();
    const selections = [
      detailSelection(type),
      unitSystem ? 'unitSystem' : '',
      hasGoalCalories ? 'hasGoalCalories user { profile { calories } }' : '',
      rowNamingOf(type).selection,
      ...fields.map((field) => selectionOf(type, field)),
      ...childListPlans.map(({ selection }) => selection),
    ];
    const document = `query ($id: ID!) { row: ${resource.rowQueryName}(id: $id) { id ${selections.join(' ')} } }`;
    const { data } = await this.prepareOperation(document)(context, { id });
    const row = data?.row as Row | null | undefined;

    if (!row) return undefined;

    return {
      name: headingOf(type, row),
      massUnit: prefersPounds(row) ? 'oz' : 'g',
      energyGoal: energyGoalOf(row),
      trainingPlan: trainingPlanOf(row),
      fields: [
        ...fields.map((field) => ({
          label: fieldLabelOf(field),
          key: field.restKey,
          cell: cellFormatterOf(
            type,
            field,
            [row],
            this.pageRoutes.endpointNameOf,
            MAX_LINKS_PER_FIELD,
          )(row),
        })),
        translationsField(type, row),
      ],
      childLists: childListPlans.flatMap(
        ({ fieldName, childRowsOf }) => childRowsOf(row[fieldName], id, isSignedIn) ?? [],
      ),
    };
  }
}
