/** Child rows of one parent on its detail page: the first or the newest rows, a link to all of them and a link to add one. */
import type { GraphQLObjectType } from 'graphql';
import { filterParameterName, type FieldMetadata } from '../../../contract/metadata';
import type { ResourceEndpoint } from '../../../rest/endpoints';
import type { EndpointNameLookup, Row } from './cells';
import type { ChildField } from './childfields';
import { tablePlanOf } from './tableplan';
import type { ChildRows } from './viewmodel';
import { fieldNameToWords } from './labels';
import { listPath } from './pageroutes';

const MAX_PAGINATED_ROWS = 10;
const MAX_UNPAGINATED_ROWS = 50;

export interface ChildListPlan {
  /** Name of the GraphQL field with the child rows, which is also the key of their data. */
  fieldName: string;
  selection: string;
  /** Returns the child rows of one parent; undefined if the field is null, because the viewer may not see it. */
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
  // Lists that are ordered by time show their newest rows.
  const showsNewestRows =
    isConnection &&
    fields.some(
      (field) => field.name === orderingField && ['date', 'datetime'].includes(field.kind),
    );
  const tablePlan = tablePlanOf(childType, view.restName, endpointNameOf, parentField);
  const rowSelection = `{ ${tablePlan.selection} }`;
  return {
    fieldName: name,
    selection: isConnection
      ? `${name}(${showsNewestRows ? 'last' : 'first'}: ${MAX_PAGINATED_ROWS}) { totalCount nodes ${rowSelection} }`
      : `${name} ${rowSelection}`,
    childRowsOf(value, parentId, isSignedIn) {
      if (value === null || value === undefined) return undefined;
      const { totalCount, nodes: rows } = isConnection
        ? (value as { totalCount: number; nodes: Row[] })
        : { totalCount: (value as Row[]).length, nodes: value as Row[] };
      // The full list is available only if it can be filtered by the parent.
      const listUrl =
        parentFilter &&
        `${listPath(view.restName)}?${filterParameterName(parentFilter, parentField)}=${parentId}`;
      return {
        label: fieldNameToWords(name),
        totalCount,
        table: tablePlan.tableOf(
          showsNewestRows ? [...rows].reverse() : rows.slice(0, MAX_UNPAGINATED_ROWS),
        ),
        listUrl,
        addUrl:
          listUrl && isSignedIn && create && resource.isOwned ? `${listUrl}#write` : undefined,
      };
    },
  };
}

/** Returns the field that refers to the parent, if there is exactly one. */
function findParentField(
  fields: readonly FieldMetadata[],
  parent: GraphQLObjectType,
): FieldMetadata | undefined {
  const parentFields = fields.filter(({ relation }) => relation?.typeName === parent.name);
  return parentFields.length === 1 ? parentFields[0] : undefined;
}
