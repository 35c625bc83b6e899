/** Columns of the CSV file of a list page: those of REST and of the table, with names beside ids. */
import { toSnakeCase } from '../../../shared/casing';
import type { FieldMetadata } from '../../../shared/metadata';
import { fieldSelection, type ResourceEndpoint } from '../../../rest/endpoints';
import { relatedTypeOf } from './cells';
import { rowNamingOf } from './row-names';

/** GraphQL selection of the column of a field, and for a relation of the names of its rows. */
function columnSelection({ type }: ResourceEndpoint, field: FieldMetadata): string {
  const { name, restKey, relation } = field;
  const relatedType = relation && relatedTypeOf(type, field);
  const nameSelection = relatedType?.extensions.resource ? rowNamingOf(relatedType).selection : '';

  if (!relation || !nameSelection) {
    return `${restKey}: ${name}${fieldSelection(type.getFields()[name]!.type)}`;
  }

  const { relationFieldName } = relation;

  return `${toSnakeCase(name)}: ${name} ${toSnakeCase(relationFieldName)}: ${relationFieldName} { ${nameSelection} }`;
}

/** The query of the file. Views with nested rows have names already. */
export function csvDocumentOf(endpoint: ResourceEndpoint): string {
  const { type, view, resource, fields, list } = endpoint;

  if (view.graphqlSelection !== undefined) return list.document;
  const columns = fields
    .filter(({ hiddenInRest, hiddenOnPages }) => !hiddenInRest || !hiddenOnPages)
    .map((field) => columnSelection(endpoint, field));

  return `query ($where: ${type.name}Where, $orderBy: [${type.name}Order!], $first: Int, $offset: Int) {
    ${resource.listQueryName}(where: $where, orderBy: $orderBy, first: $first, offset: $offset) {
      nodes { ${columns.join(' ')} }
    }
  }`;
}
