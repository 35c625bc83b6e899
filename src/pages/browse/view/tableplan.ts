/** Builder of tables for the rows of one type: the GraphQL selection to read, and the conversion of rows to cells. */
import { getNullableType, isListType, type GraphQLObjectType } from 'graphql';
import type { FieldMetadata } from '../../../contract/metadata';
import {
  cellFormatterOf,
  hasColumn,
  linksCell,
  rowNameOf,
  selectionOf,
  cellClassOf,
  visibleFieldsOf,
  type FindEndpointName,
  type Row,
} from './cells';
import { childFieldsOf, type ChildField } from './childfields';
import { nameRuleOf, type RowNameRule } from './rownames';
import type { Cell, RowLink, TableView, TableRow } from './viewmodel';
import { fieldLabelOf, fieldNameToWords, pluralLabelOf, singularLabelOf } from './labels';
import { detailPath } from './pageroutes';

const MAX_NAMES_PER_CELL = 4;
const IMAGES_FIELD = 'images';

const childLinkOf =
  (type: GraphQLObjectType, endpointName: string | undefined) =>
  (row: Row): RowLink => ({
    label: rowNameOf(type, row),
    id: String(row.id),
    ...(endpointName !== undefined && { href: detailPath(endpointName, String(row.id)) }),
  });

/** The first column is the name of the row; the other fields and the child rows follow. */
export class TableBuilder {
  readonly selection: string;
  private readonly nameRule: RowNameRule;
  private readonly columns: TableView['columns'];
  private readonly columnFields: readonly FieldMetadata[];
  private readonly childFields: readonly ChildField[];
  private readonly hasImages: boolean;

  /** `parentField` refers to the parent of all rows. It gets no column, because its value is the same in all of them. */
  constructor(
    private readonly type: GraphQLObjectType,
    private readonly endpointName: string | undefined,
    private readonly endpointNameOf: FindEndpointName,
    parentField?: FieldMetadata,
  ) {
    this.nameRule = nameRuleOf(type, parentField);
    const { paths, selection } = this.nameRule;
    const visibleFields = visibleFieldsOf(type);
    this.columnFields = visibleFields.filter((field) => field !== parentField && hasColumn(field, this.nameRule));
    this.childFields = childFieldsOf(type).filter(({ isConnection, childType }) => !isConnection && childType.extensions.resource!.owned);
    this.hasImages = isListType(getNullableType(type.getFields()[IMAGES_FIELD]?.type));
    const nameField = paths.length === 1 && paths[0]!.length === 1 ? visibleFields.find(({ name }) => name === paths[0]![0]) : undefined;
    this.columns = [
      {
        key: nameField?.rest ?? '',
        label: nameField ? fieldLabelOf(nameField) : singularLabelOf(type),
        sortable: nameField?.sortable ?? false,
      },
      ...this.columnFields.map((field) => ({
        key: field.rest,
        label: fieldLabelOf(field),
        sortable: field.sortable,
        cellClass: cellClassOf(field),
      })),
      ...this.childFields.map(({ name }) => ({ key: name, label: fieldNameToWords(name), sortable: false })),
    ];
    this.selection = [
      'id',
      selection,
      ...this.columnFields.map((field) => selectionOf(type, field)),
      this.hasImages ? `${IMAGES_FIELD} { image }` : '',
      ...this.childFields.map(({ name, childType }) => `${name} { id ${nameRuleOf(childType).selection} }`),
    ].join(' ');
  }

  tableOf(rows: readonly Row[]): TableView {
    const cellFormatters = this.columnFields.map((field) =>
      cellFormatterOf(this.type, field, rows, this.endpointNameOf, MAX_NAMES_PER_CELL),
    );
    return { title: pluralLabelOf(this.type), columns: this.columns, rows: rows.map((row) => this.rowOf(row, cellFormatters)) };
  }

  private rowOf(row: Row, cellFormatters: readonly ((row: Row) => Cell)[]): TableRow {
    const { type, endpointName, childFields, endpointNameOf } = this;
    const image = this.hasImages ? (row[IMAGES_FIELD] as Row[])[0]?.image : undefined;
    return {
      id: String(row.id),
      name: rowNameOf(type, row, this.nameRule),
      ...(endpointName !== undefined && { href: detailPath(endpointName, String(row.id)) }),
      ...(typeof image === 'string' && { picture: image }),
      cells: [
        ...cellFormatters.map((formatCell) => formatCell(row)),
        ...childFields.map(({ name, childType }) =>
          linksCell(row[name] as Row[], MAX_NAMES_PER_CELL, childLinkOf(childType, endpointNameOf(childType.name))),
        ),
      ],
    };
  }
}
