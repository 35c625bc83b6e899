/**
 * Tables of rows of one type: the GraphQL selection that reads them, and their conversion to cells.
 */
import { getNullableType, isListType, type GraphQLObjectType } from 'graphql';
import type { FieldMetadata } from '../../../shared/metadata';
import {
  cellFormatterOf,
  hasColumn,
  linksCell,
  rowNameOf,
  selectionOf,
  cellClassOf,
  visibleFieldsOf,
  type EndpointNameLookup,
  type Row,
} from './cells';
import { childFieldsOf } from './child-fields';
import { rowNamingOf } from './row-names';
import type { RowLink, TableModel } from './view-model';
import { fieldLabelOf, fieldNameToWords, pluralLabelOf, singularLabelOf } from './labels';
import { rowPathOf } from './page-routes';

const MAX_NAMES_PER_CELL = 4;
const IMAGES_FIELD = 'images';

export interface TablePlan {
  selection: string;
  tableOf(rows: readonly Row[]): TableModel;
}

/**
 * Plans a table: the name of the row, its other fields and its child rows. `parentField` gets no
 * column, because all rows have the same parent.
 */
export function tablePlanOf(
  type: GraphQLObjectType,
  endpointName: string | undefined,
  endpointNameOf: EndpointNameLookup,
  parentField?: FieldMetadata,
): TablePlan {
  const naming = rowNamingOf(type, parentField);
  const { paths, selection } = naming;
  const visibleFields = visibleFieldsOf(type);
  const columnFields = visibleFields.filter(
    (field) => field !== parentField && hasColumn(field, naming),
  );
  const childFields = childFieldsOf(type).filter(
    ({ isConnection, childType }) => !isConnection && childType.extensions.resource!.isOwned,
  );
  const hasImages = isListType(getNullableType(type.getFields()[IMAGES_FIELD]?.type));
  const isNamedByOneField = paths.length === 1 && paths[0]!.length === 1;
  const nameField = visibleFields.find(({ name }) => isNamedByOneField && name === paths[0]![0]);
  const columns: TableModel['columns'] = [
    {
      key: nameField?.restKey ?? '',
      label: nameField ? fieldLabelOf(nameField) : singularLabelOf(type),
      isSortable: nameField?.isSortable ?? false,
    },
    ...columnFields.map((field) => ({
      key: field.restKey,
      label: fieldLabelOf(field),
      isSortable: field.isSortable,
      cellCssClass: cellClassOf(field),
    })),
    ...childFields.map(({ name }) => ({
      key: name,
      label: fieldNameToWords(name),
      isSortable: false,
    })),
  ];
  const pictureUrlOf = (row: Row) =>
    hasImages ? ((row[IMAGES_FIELD] as Row[])[0]?.image as string | undefined) : undefined;

  return {
    selection: [
      'id',
      selection,
      ...columnFields.map((field) => selectionOf(type, field)),
      hasImages ? `${IMAGES_FIELD} { image }` : '',
      ...childFields.map(
        ({ name, childType }) => `${name} { id ${rowNamingOf(childType).selection} }`,
      ),
    ].join(' '),
    tableOf(rows) {
      const cellFormatters = columnFields.map((field) =>
        cellFormatterOf(type, field, rows, endpointNameOf, MAX_NAMES_PER_CELL),
      );
      const childLinkOf =
        (childType: GraphQLObjectType) =>
        (child: Row): RowLink => ({
          label: rowNameOf(childType, child),
          id: String(child.id),
          href: rowPathOf(endpointNameOf(childType.name), String(child.id)),
        });

      return {
        title: pluralLabelOf(type),
        columns,
        rows: rows.map((row) => ({
          id: String(row.id),
          name: rowNameOf(type, row, naming),
          href: rowPathOf(endpointName, String(row.id)),
          pictureUrl: pictureUrlOf(row),
          cells: [
            ...cellFormatters.map((formatCell) => formatCell(row)),
            ...childFields.map(({ name, childType }) =>
              linksCell(row[name] as Row[], MAX_NAMES_PER_CELL, childLinkOf(childType)),
            ),
          ],
        })),
      };
    },
  };
}
