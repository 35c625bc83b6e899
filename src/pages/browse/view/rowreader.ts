/** Reads rows as a table, or one row with its child rows, in a single GraphQL operation that includes the names of all related rows. */
import type { GraphQLObjectType } from 'graphql';
import type { Endpoint, PrepareOperation } from '../../../rest/endpoints';
import { ChildListBuilder } from './childlist';
import { cellFormatterOf, headingOf, selectionOf, visibleFieldsOf, type FindEndpointName, type Row } from './cells';
import { childFieldsOf, type ChildField } from './childfields';
import { detailSelection, trainingPlanOf, translationLinksField } from './detaildata';
import { nameRuleOf } from './rownames';
import { TableBuilder } from './tableplan';
import type { TableView, DetailRow } from './viewmodel';
import { fieldLabelOf } from './labels';

interface EndpointBuilders {
  tableBuilder: TableBuilder;
  childListBuilders: readonly ChildListBuilder[];
}

const MAX_LINKS_PER_FIELD = 200;

/** Whether the user prefers pounds. Sums of nutrients are then shown in ounces. */
export const prefersPounds = ({ unitSystem }: Row): boolean => ['lb', 'IMPERIAL'].includes(String(unitSystem));

/** Returns `{ goal }`, the daily energy goal of the user in kcal, for rows that are compared with it; otherwise an empty object. */
function goalProperty({ hasGoalCalories, user }: Row): { goal?: number } {
  const calories = (user as { profile: { calories: number | null } | null } | null | undefined)?.profile?.calories;
  return hasGoalCalories === true && calories ? { goal: calories } : {};
}

export class RowReader {
  private readonly endpointNameOf: FindEndpointName;
  private readonly buildersByEndpoint = new Map<string, EndpointBuilders>();

  constructor(
    private readonly prepareOperation: PrepareOperation,
    private readonly endpointOf: (type: string) => Endpoint | undefined,
  ) {
    this.endpointNameOf = (type) => endpointOf(type)?.view.rest;
  }

  /** Returns the rows with these ids as a table, in this order; undefined if they cannot be read. */
  async readTable(endpoint: Endpoint, ids: readonly string[], context: object): Promise<TableView | undefined> {
    const { type, resource } = endpoint;
    const { tableBuilder } = this.endpointBuildersOf(endpoint);
    const document = `query ($where: ${type.name}Where, $first: Int) { page: ${resource.many}(where: $where, first: $first) { nodes { ${tableBuilder.selection} } } }`;
    const { data } = ids.length
      ? await this.prepareOperation(document)(context, { where: { id: { in: [...new Set(ids)] } }, first: ids.length })
      : { data: { page: { nodes: [] } } };
    if (!data?.page) return undefined;
    const rowById = new Map((data.page.nodes as Row[]).map((row) => [String(row.id), row]));
    return tableBuilder.tableOf(ids.map((id) => rowById.get(id)).filter((row) => row !== undefined));
  }

  async readDetailRow(endpoint: Endpoint, id: string, context: object, signedIn: boolean): Promise<DetailRow | undefined> {
    const { type, resource } = endpoint;
    // Anonymous visitors do not get lists that require sign-in: such a list is not nullable, so its error would make the whole row null.
    const childListBuilders = this.endpointBuildersOf(endpoint).childListBuilders.filter(({ isOwned }) => signedIn || !isOwned);
    const fields = visibleFieldsOf(type).filter(({ name }) => name !== 'id');
    const { unitSystem, hasGoalCalories } = type.getFields();
    const selections = [
      detailSelection(type),
      unitSystem ? 'unitSystem' : '',
      hasGoalCalories ? 'hasGoalCalories user { profile { calories } }' : '',
      nameRuleOf(type).selection,
      ...fields.map((field) => selectionOf(type, field)),
      ...childListBuilders.map(({ selection }) => selection),
    ];
    const { data } = await this.prepareOperation(`query ($id: ID!) { row: ${resource.one}(id: $id) { id ${selections.join(' ')} } }`)(
      context,
      {
        id,
      },
    );
    const row = data?.row as Row | null | undefined;
    if (!row) return undefined;
    const trainingPlan = trainingPlanOf(row);
    return {
      name: headingOf(type, row),
      massUnit: prefersPounds(row) ? 'oz' : 'g',
      ...goalProperty(row),
      ...(trainingPlan && { trainingPlan }),
      fields: [
        ...fields.map((field) => ({
          label: fieldLabelOf(field),
          key: field.rest,
          cell: cellFormatterOf(type, field, [row], this.endpointNameOf, MAX_LINKS_PER_FIELD)(row),
        })),
        translationLinksField(type, row),
      ],
      childLists: childListBuilders.flatMap(
        (childListBuilder) => childListBuilder.childRowsOf(row[childListBuilder.fieldName], id, signedIn) ?? [],
      ),
    };
  }

  private endpointBuildersOf({ view, type }: Endpoint): EndpointBuilders {
    let endpointBuilders = this.buildersByEndpoint.get(view.rest);
    if (!endpointBuilders) {
      const childListBuilders = childFieldsOf(type).flatMap((childField) => this.childListBuilderOf(type, childField) ?? []);
      this.buildersByEndpoint.set(
        view.rest,
        (endpointBuilders = { tableBuilder: new TableBuilder(type, view.rest, this.endpointNameOf), childListBuilders }),
      );
    }
    return endpointBuilders;
  }

  private childListBuilderOf(parent: GraphQLObjectType, childField: ChildField): ChildListBuilder | undefined {
    const endpoint = this.endpointOf(childField.childType.name);
    return endpoint && new ChildListBuilder(parent, childField, endpoint, this.endpointNameOf);
  }
}
