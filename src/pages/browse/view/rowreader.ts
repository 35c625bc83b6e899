/** Reads rows as a table, or one row with its child rows, in a single GraphQL operation that includes the names of all related rows. */
import type { ResourceEndpoint, PrepareOperation } from '../../../rest/endpoints';
import { childListPlanOf } from './childlist';
import { cellFormatterOf, headingOf, selectionOf, visibleFieldsOf, type Row } from './cells';
import { childFieldsOf } from './childfields';
import { detailSelection, trainingPlanOf, translationLinksField } from './detaildata';
import type { PageRoutes } from './pageroutes';
import { nameRuleOf } from './rownames';
import { tablePlanOf } from './tableplan';
import type { TableView, DetailRow } from './viewmodel';
import { fieldLabelOf } from './labels';

const MAX_LINKS_PER_FIELD = 200;

/** Whether the user prefers pounds. Sums of nutrients are then shown in ounces. */
export const prefersPounds = ({ unitSystem }: Row): boolean =>
  ['lb', 'IMPERIAL'].includes(String(unitSystem));

/** Returns the daily energy goal of the user in kcal for rows that are compared with it; otherwise undefined. */
function energyGoalOf({ hasGoalCalories, user }: Row): number | undefined {
  const calories = (user as { profile: { calories: number | null } | null } | null | undefined)
    ?.profile?.calories;
  return (hasGoalCalories === true && calories) || undefined;
}

export class RowReader {
  constructor(
    private readonly prepareOperation: PrepareOperation,
    private readonly pageRoutes: PageRoutes,
  ) {}

  /** Returns the rows with these ids as a table, in this order; undefined if they cannot be read. */
  async readTable(
    { type, resource, view }: ResourceEndpoint,
    ids: readonly string[],
    context: object,
  ): Promise<TableView | undefined> {
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
      // Anonymous visitors do not get lists that require sign-in: such a list is not nullable, so its error would make the whole row null.
      return endpoint && (isSignedIn || !endpoint.resource.isOwned)
        ? childListPlanOf(type, childField, endpoint, this.pageRoutes.endpointNameOf)
        : [];
    });
    const fields = visibleFieldsOf(type).filter(({ name }) => name !== 'id');
    const { unitSystem, hasGoalCalories } = type.getFields();
    const selections = [
      detailSelection(type),
      unitSystem ? 'unitSystem' : '',
      hasGoalCalories ? 'hasGoalCalories user { profile { calories } }' : '',
      nameRuleOf(type).selection,
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
        translationLinksField(type, row),
      ],
      childLists: childListPlans.flatMap(
        ({ fieldName, childRowsOf }) => childRowsOf(row[fieldName], id, isSignedIn) ?? [],
      ),
    };
  }
}
