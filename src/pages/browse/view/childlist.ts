/** Child rows of one parent on its detail page: the first or the newest rows, a link to all of them and a link to add one. */
import type { GraphQLObjectType } from 'graphql';
import type { FieldMetadata } from '../../../contract/metadata';
import type { Endpoint } from '../../../rest/endpoints';
import { API_BASE_PATH } from '../../../rest/routes';
import type { EndpointOf, Row } from './cells';
import type { ChildField } from './childfields';
import { TablePlan } from './tableplan';
import type { ChildRows } from './viewmodel';
import { fieldWords } from './labels';

const MAX_PAGINATED_ROWS = 10;
const MAX_UNPAGINATED_ROWS = 50;

export class ChildListPlan {
  /** Name of the GraphQL field with the child rows, which is also the key of their data. */
  readonly name: string;
  readonly selection: string;
  private readonly plan: TablePlan;
  private readonly isPaginated: boolean;
  private readonly showsNewest: boolean;
  /** URL of the list of all child rows, to which the id of the parent is appended. */
  private readonly address?: string;
  private readonly canAddRows: boolean;

  constructor(
    parent: GraphQLObjectType,
    { name, child, nodes }: ChildField,
    { view, fields, resource, create }: Endpoint,
    pathOf: EndpointOf,
  ) {
    const parentField = findParentField(fields, parent);
    const parentFilter = parentField && view.filters.find((filter) => filter.field === parentField.name);
    const [orderingField] = resource.ordering;
    // Lists that are ordered by time show their newest rows.
    const showsNewest = nodes && fields.some((field) => field.name === orderingField && ['date', 'datetime'].includes(field.kind));
    this.name = name;
    this.plan = new TablePlan(child, view.rest, pathOf, parentField);
    this.isPaginated = nodes;
    this.showsNewest = showsNewest;
    if (parentFilter) this.address = `${API_BASE_PATH}/${view.rest}/?${parentFilter.key ?? parentField.rest}=`;
    this.canAddRows = create !== undefined && resource.owned;
    const rows = `{ ${this.plan.selection} }`;
    this.selection = nodes
      ? `${name}(${showsNewest ? 'last' : 'first'}: ${MAX_PAGINATED_ROWS}) { totalCount nodes ${rows} }`
      : `${name} ${rows}`;
  }

  /** Returns the child rows of one parent; undefined if the field is null, because the viewer may not see it. */
  below(value: unknown, id: string, signedIn: boolean): ChildRows | undefined {
    if (value === null || value === undefined) return undefined;
    const { totalCount, nodes: rows } = this.isPaginated
      ? (value as { totalCount: number; nodes: Row[] })
      : { totalCount: (value as Row[]).length, nodes: value as Row[] };
    const address = this.address && this.address + id;
    return {
      label: fieldWords(this.name),
      total: totalCount,
      sheet: this.plan.sheet(this.showsNewest ? [...rows].reverse() : rows.slice(0, MAX_UNPAGINATED_ROWS)),
      ...(address && { all: address }),
      ...(address && signedIn && this.canAddRows && { add: `${address}#write` }),
    };
  }
}

/** Returns the field that refers to the parent, if there is exactly one. */
function findParentField(fields: readonly FieldMetadata[], parent: GraphQLObjectType): FieldMetadata | undefined {
  const parents = fields.filter(({ relation }) => relation?.type === parent.name);
  return parents.length === 1 ? parents[0] : undefined;
}
