/**
 * Child rows on the detail page of their parent: the first or the newest ones, with links to see
 * all and to add one.
 */
import type { GraphQLObjectType } from 'graphql';
import { filterParameterName, type FieldMetadata } from '../../../shared/metadata';
import type { ResourceEndpoint } from '../../../rest/endpoints';
import type { EndpointNameLookup, Row } from './cells';
import type { ChildField } from './child-fields';
import { tablePlanOf } from './table-plan';
import type { ChildRows } from './view-model';
import { fieldNameToWords } from './labels';
import { listPath } from './page-routes';

/** Maximum number of child rows shown of a paginated list (connection), and of a plain list. */
const MAX_PAGINATED_ROWS = 10;
const MAX_UNPAGINATED_ROWS = 50;

export interface ChildListPlan {
  /** GraphQL field that returns the child rows. */
  fieldName: string;
  selection: string;

  /**
   * Converts the value of the GraphQL field, which is null if the viewer may not see the child
   * rows.
   */
  childRowsOf(value: unknown, parentId: string, isSignedIn: boolean): ChildRows | undefined;
}

export function childListPlanOf(
  parent: GraphQLObjectType,
  { name, childType, isConnection }: ChildField,
  { view, fields, resource, create }: ResourceEndpoint,
  endpointNameOf: EndpointNameLookup,
): ChildListPlan {
  const parentField = findParentField(fields, parent);
  const parentFilter =
    parentField && view.filters.find((filter) => filter.field === parentField.name);
  const [orderingField] = resource.ordering;
  // Lists ordered by time show their newest rows.
  const showsNewestRows =
    isConnection &&
    fields.some(
      (field) => field.name === orderingField && ['date', 'datetime'].includes(field.kind),
    );
  const tablePlan = tablePlanOf(childType, view.restName, endpointNameOf, parentField);
  const rowSelection = `{ ${tablePlan.selection} }`;

  const pageArgument = `${showsNewestRows ? 'last' : 'first'}: ${MAX_PAGINATED_ROWS}`;
  const connectionSelection = `${name}(${pageArgument}) { totalCount nodes ${rowSelection} }`;

  return {
    fieldName: name,
    selection: isConnection ? connectionSelection : `${name} ${rowSelection}`,
    childRowsOf(value, parentId, isSignedIn) {
      if (value === null || value === undefined) return undefined;
      const connection = value as { totalCount: number; nodes: Row[] };
      const rows = isConnection ? connection.nodes : (value as Row[]);
      // The full list is available only if it can be filtered by the parent.
      const listUrl =
        parentFilter &&
        `${listPath(view.restName)}?${filterParameterName(parentFilter, parentField)}=${parentId}`;

      const canAdd = isSignedIn && create && resource.isOwned;

      return {
        label: fieldNameToWords(name),
        totalCount: isConnection ? connection.totalCount : rows.length,
        table: tablePlan.tableOf(
          showsNewestRows ? [...rows].reverse() : rows.slice(0, MAX_UNPAGINATED_ROWS),
        ),
        listUrl,
        addUrl: listUrl && canAdd ? `${listUrl}#write` : undefined,
      };
    },
  };
}

/** The field that refers to the parent, if there is exactly one. */
function findParentField(
  fields: readonly FieldMetadata[],
  parent: GraphQLObjectType,
): FieldMetadata | undefined {
  const parentFields = fields.filter(({ relation }) => relation?.typeName === parent.name);

  return parentFields.length === 1 ? parentFields[0] : undefined;
}
