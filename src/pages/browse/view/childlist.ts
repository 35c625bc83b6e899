/** Child rows of one parent on its detail page: the first or the newest rows, a link to all of them and a link to add one. */
import type { GraphQLObjectType } from 'graphql';
import type { FieldMetadata } from '../../../contract/metadata';
import type { Endpoint } from '../../../rest/endpoints';
import type { FindEndpointName, Row } from './cells';
import type { ChildField } from './childfields';
import { TableBuilder } from './tableplan';
import type { ChildRows } from './viewmodel';
import { fieldNameToWords } from './labels';
import { listPath } from './pageroutes';

const MAX_PAGINATED_ROWS = 10;
const MAX_UNPAGINATED_ROWS = 50;

export class ChildListBuilder {
  /** Name of the GraphQL field with the child rows, which is also the key of their data. */
  readonly fieldName: string;
  readonly selection: string;
  /** Whether the list requires sign-in. */
  readonly isOwned: boolean;
  private readonly tableBuilder: TableBuilder;
  private readonly isPaginated: boolean;
  private readonly showsNewest: boolean;
  /** URL of the full list of a parent's child rows, up to the id of the parent, which is appended. Absent if the list has no filter by parent. */
  private readonly listUrlPrefix?: string;
  private readonly canAddRows: boolean;

  constructor(
    parent: GraphQLObjectType,
    { name, childType, isConnection }: ChildField,
    { view, fields, resource, create }: Endpoint,
    endpointNameOf: FindEndpointName,
  ) {
    const parentField = findParentField(fields, parent);
    const parentFilter = parentField && view.filters.find((filter) => filter.field === parentField.name);
    const [orderingField] = resource.ordering;
    // Lists that are ordered by time show their newest rows.
    const showsNewest = isConnection && fields.some((field) => field.name === orderingField && ['date', 'datetime'].includes(field.kind));
    this.fieldName = name;
    this.isOwned = resource.owned;
    this.tableBuilder = new TableBuilder(childType, view.rest, endpointNameOf, parentField);
    this.isPaginated = isConnection;
    this.showsNewest = showsNewest;
    if (parentFilter) this.listUrlPrefix = `${listPath(view.rest)}?${parentFilter.key ?? parentField.rest}=`;
    this.canAddRows = create !== undefined && resource.owned;
    const rows = `{ ${this.tableBuilder.selection} }`;
    this.selection = isConnection
      ? `${name}(${showsNewest ? 'last' : 'first'}: ${MAX_PAGINATED_ROWS}) { totalCount nodes ${rows} }`
      : `${name} ${rows}`;
  }

  /** Returns the child rows of one parent; undefined if the field is null, because the viewer may not see it. */
  childRowsOf(value: unknown, parentId: string, signedIn: boolean): ChildRows | undefined {
    if (value === null || value === undefined) return undefined;
    const { totalCount, nodes: rows } = this.isPaginated
      ? (value as { totalCount: number; nodes: Row[] })
      : { totalCount: (value as Row[]).length, nodes: value as Row[] };
    const listUrl = this.listUrlPrefix && this.listUrlPrefix + parentId;
    return {
      label: fieldNameToWords(this.fieldName),
      total: totalCount,
      table: this.tableBuilder.tableOf(this.showsNewest ? [...rows].reverse() : rows.slice(0, MAX_UNPAGINATED_ROWS)),
      ...(listUrl && { listUrl }),
      ...(listUrl && signedIn && this.canAddRows && { addUrl: `${listUrl}#write` }),
    };
  }
}

/** Returns the field that refers to the parent, if there is exactly one. */
function findParentField(fields: readonly FieldMetadata[], parent: GraphQLObjectType): FieldMetadata | undefined {
  const parentFields = fields.filter(({ relation }) => relation?.type === parent.name);
  return parentFields.length === 1 ? parentFields[0] : undefined;
}
