/** Tables for the rows of one type: the GraphQL selection to read, and the conversion of rows to cells. */
import { getNullableType, isListType, type GraphQLObjectType } from 'graphql';
import type { FieldMetadata } from '../../../contract/metadata';
import {
  cellFormatterOf,
  hasColumn,
  linksCell,
  rowNameOf,
  selectionOf,
  cellCssClassOf,
  visibleFieldsOf,
  type EndpointNameLookup,
  type Row,
} from './cells';
import { childFieldsOf } from './childfields';
import { nameRuleOf } from './rownames';
import type { RowLink, TableView } from './viewmodel';
import { fieldLabelOf, fieldNameToWords, pluralLabelOf, singularLabelOf } from './labels';
import { rowPathOf } from './pageroutes';

const MAX_NAMES_PER_CELL = 4;
const IMAGES_FIELD = 'images';

export interface TablePlan {
  selection: string;
  tableOf(rows: readonly Row[]): TableView;
}

/**
 * Plans a table. The first column is the name of the row; the other fields and the child rows follow. `parentField` refers to the parent of all rows.
 * It gets no column, because its value is the same in all of them.
 */
export function tablePlanOf(
  type: GraphQLObjectType,
  endpointName: string | undefined,
  endpointNameOf: EndpointNameLookup,
  parentField?: FieldMetadata,
): TablePlan {
  const nameRule = nameRuleOf(type, parentField);
  const { paths, selection } = nameRule;
  const visibleFields = visibleFieldsOf(type);
  const columnFields = visibleFields.filter(
    (field) => field !== parentField && hasColumn(field, nameRule),
  );
  const childFields = childFieldsOf(type).filter(
    ({ isConnection, childType }) => !isConnection && childType.extensions.resource!.isOwned,
  );
  const hasImages = isListType(getNullableType(type.getFields()[IMAGES_FIELD]?.type));
  const nameField =
    paths.length === 1 && paths[0]!.length === 1
      ? visibleFields.find(({ name }) => name === paths[0]![0])
      : undefined;
  const columns: TableView['columns'] = [
    {
      key: nameField?.restKey ?? '',
      label: nameField ? fieldLabelOf(nameField) : singularLabelOf(type),
      isSortable: nameField?.isSortable ?? false,
    },
    ...columnFields.map((field) => ({
      key: field.restKey,
      label: fieldLabelOf(field),
      isSortable: field.isSortable,
      cellCssClass: cellCssClassOf(field),
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
        ({ name, childType }) => `${name} { id ${nameRuleOf(childType).selection} }`,
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
          name: rowNameOf(type, row, nameRule),
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
