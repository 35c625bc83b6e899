/** Reads rows as a table, or one row with its child rows, by a single GraphQL operation that includes the names of all related rows. */
import type { GraphQLObjectType } from 'graphql';
import type { Endpoint, PrepareOperation, RunOperation } from '../../../rest/endpoints';
import { ChildListPlan } from './childlist';
import { cellFormatterOf, headingOf, selectionOf, visibleFieldsOf, type EndpointOf, type Row } from './cells';
import { childFieldsOf, type ChildField } from './childfields';
import { detailSelection, trainingOf, translationsOf } from './detaildata';
import { nameRuleOf } from './rownames';
import { TablePlan } from './tableplan';
import type { TableView, DetailRow } from './viewmodel';
import { labelOf } from './labels';

interface EndpointPlan {
  plan: TablePlan;
  branches: readonly ChildListPlan[];
}

/** Whether the user prefers pounds. Sums of nutrients are then shown in ounces. */
export const prefersPounds = ({ unitSystem }: Row): boolean => ['lb', 'IMPERIAL'].includes(String(unitSystem));

/** Returns the daily energy goal of the user in kcal, if the page compares the row with it. */
function goalOf({ hasGoalCalories, user }: Row): { goal?: number } {
  const calories = (user as { profile: { calories: number | null } | null } | null | undefined)?.profile?.calories;
  return hasGoalCalories === true && calories ? { goal: calories } : {};
}

export class RowReader {
  private readonly pathOf: EndpointOf;
  private readonly runByDocument = new Map<string, RunOperation>();
  private readonly planByEndpoint = new Map<string, EndpointPlan>();

  constructor(
    private readonly prepare: PrepareOperation,
    private readonly endpointOf: (type: string) => Endpoint | undefined,
  ) {
    this.pathOf = (type) => endpointOf(type)?.view.rest;
  }

  /** Returns the rows with these ids as a table, in this order; undefined if they cannot be read. */
  async list(endpoint: Endpoint, ids: readonly string[], context: object): Promise<TableView | undefined> {
    const { type, resource } = endpoint;
    const { plan } = this.planOf(endpoint);
    const document = `query ($where: ${type.name}Where, $first: Int) { page: ${resource.many}(where: $where, first: $first) { nodes { ${plan.selection} } } }`;
    const { data } = ids.length
      ? await this.prepareOnce(document)(context, { where: { id: { in: [...new Set(ids)] } }, first: ids.length })
      : { data: { page: { nodes: [] } } };
    if (!data?.page) return undefined;
    const byId = new Map((data.page.nodes as Row[]).map((row) => [String(row.id), row]));
    return plan.sheet(ids.map((id) => byId.get(id)).filter((row) => row !== undefined));
  }

  async readDetailRow(endpoint: Endpoint, id: string, context: object, signedIn: boolean): Promise<DetailRow | undefined> {
    const { type, resource } = endpoint;
    const { branches } = this.planOf(endpoint);
    const fields = visibleFieldsOf(type).filter(({ name }) => name !== 'id');
    const { unitSystem, hasGoalCalories } = type.getFields();
    const selections = [
      detailSelection(type),
      unitSystem ? 'unitSystem' : '',
      hasGoalCalories ? 'hasGoalCalories user { profile { calories } }' : '',
      nameRuleOf(type, resource).selection,
      ...fields.map((field) => selectionOf(type, field)),
      ...branches.map(({ selection }) => selection),
    ];
    const { data } = await this.prepareOnce(`query ($id: ID!) { row: ${resource.one}(id: $id) { id ${selections.join(' ')} } }`)(context, {
      id,
    });
    const row = data?.row as Row | null | undefined;
    if (!row) return undefined;
    const training = trainingOf(row);
    return {
      name: headingOf(type, row),
      massUnit: prefersPounds(row) ? 'oz' : 'g',
      ...goalOf(row),
      ...(training && { training }),
      fields: [
        ...fields.map((field) => ({ label: labelOf(field), key: field.rest, cell: cellFormatterOf(type, field, [row], this.pathOf)(row) })),
        translationsOf(type, row),
      ],
      below: branches.flatMap((branch) => branch.below(row[branch.name], id, signedIn) ?? []),
    };
  }

  private prepareOnce(document: string): RunOperation {
    let run = this.runByDocument.get(document);
    if (!run) this.runByDocument.set(document, (run = this.prepare(document)));
    return run;
  }

  private planOf({ view, type }: Endpoint): EndpointPlan {
    let endpointPlan = this.planByEndpoint.get(view.rest);
    if (!endpointPlan) {
      const branches = childFieldsOf(type).flatMap((children) => this.branchOf(type, children) ?? []);
      this.planByEndpoint.set(view.rest, (endpointPlan = { plan: new TablePlan(type, view.rest, this.pathOf), branches }));
    }
    return endpointPlan;
  }

  private branchOf(parent: GraphQLObjectType, children: ChildField): ChildListPlan | undefined {
    const endpoint = this.endpointOf(children.child.name);
    return endpoint && new ChildListPlan(parent, children, endpoint, this.pathOf);
  }
}
