/** Plan of a table for the rows of one type: the GraphQL selection to read, and the conversion of rows to cells. */
import { getNullableType, isListType, type GraphQLObjectType } from 'graphql';
import type { FieldMetadata } from '../../../contract/metadata';
import { API_BASE_PATH } from '../../../rest/routes';
import {
  cellFormatterOf,
  isColumn,
  rowNameOf,
  plural,
  selectionOf,
  alignmentOf,
  visibleFieldsOf,
  singular,
  type EndpointOf,
  type Row,
} from './cells';
import { childFieldsOf, type ChildField } from './childfields';
import { nameRuleOf, type NameRule } from './rownames';
import type { Cell, TableView, TableRow } from './viewmodel';
import { labelOf, fieldWords } from './labels';

const MAX_NAMES_PER_CELL = 4;
const IMAGES_FIELD = 'images';

function namesOf(type: GraphQLObjectType, rows: readonly Row[], endpoint: string | undefined): Cell {
  const links = rows.map((row) => ({
    label: rowNameOf(type, row),
    id: String(row.id),
    ...(endpoint !== undefined && { href: `${API_BASE_PATH}/${endpoint}/${String(row.id)}/` }),
  }));
  return truncateLinks({ links });
}

function truncateLinks(cell: Cell): Cell {
  const { links = [] } = cell;
  const remainingCount = links.length - MAX_NAMES_PER_CELL;
  return remainingCount > 0 ? { links: [...links.slice(0, MAX_NAMES_PER_CELL), { label: `${remainingCount} more`, id: '' }] } : cell;
}

/** The columns show the name, the other fields and the child rows. */
export class TablePlan {
  readonly selection: string;
  private readonly calling: NameRule;
  private readonly columns: TableView['columns'];
  private readonly columnFields: readonly FieldMetadata[];
  private readonly childLists: readonly ChildField[];
  private readonly hasImages: boolean;

  /** `parentField` refers to the parent of all rows. It gets no column, because its value is the same in all of them. */
  constructor(
    private readonly type: GraphQLObjectType,
    private readonly rest: string | undefined,
    private readonly pathOf: EndpointOf,
    without?: FieldMetadata,
  ) {
    this.calling = nameRuleOf(type, type.extensions.resource!, without);
    const { paths, selection } = this.calling;
    const visibleFields = visibleFieldsOf(type);
    this.columnFields = visibleFields.filter((field) => field !== without && isColumn(field, this.calling));
    this.childLists = childFieldsOf(type).filter(({ nodes, child }) => !nodes && child.extensions.resource!.owned);
    this.hasImages = isListType(getNullableType(type.getFields()[IMAGES_FIELD]?.type));
    const nameField = paths.length === 1 && paths[0]!.length === 1 ? visibleFields.find(({ name }) => name === paths[0]![0]) : undefined;
    this.columns = [
      { key: nameField?.rest ?? '', label: nameField ? labelOf(nameField) : singular(type), sortable: nameField?.ordered ?? false },
      ...this.columnFields.map((field) => ({ key: field.rest, label: labelOf(field), sortable: field.ordered, as: alignmentOf(field) })),
      ...this.childLists.map(({ name }) => ({ key: name, label: fieldWords(name), sortable: false })),
    ];
    this.selection = [
      'id',
      selection,
      ...this.columnFields.map((field) => selectionOf(type, field)),
      this.hasImages ? `${IMAGES_FIELD} { image }` : '',
      ...this.childLists.map(({ name, child }) => `${name} { id ${nameRuleOf(child, child.extensions.resource!).selection} }`),
    ].join(' ');
  }

  sheet(rows: readonly Row[]): TableView {
    const cellFormatters = this.columnFields.map((field) => cellFormatterOf(this.type, field, rows, this.pathOf));
    return { title: plural(this.type), columns: this.columns, rows: rows.map((row) => this.rowOf(row, cellFormatters)) };
  }

  private rowOf(row: Row, cellFormatters: readonly ((row: Row) => Cell)[]): TableRow {
    const { type, rest, childLists, pathOf } = this;
    const image = this.hasImages ? (row[IMAGES_FIELD] as Row[])[0]?.image : undefined;
    return {
      id: String(row.id),
      name: rowNameOf(type, row, this.calling),
      ...(rest !== undefined && { href: `${API_BASE_PATH}/${rest}/${String(row.id)}/` }),
      ...(typeof image === 'string' && { picture: image }),
      cells: [
        ...cellFormatters.map((formatCell) => truncateLinks(formatCell(row))),
        ...childLists.map(({ name, child }) => namesOf(child, row[name] as Row[], pathOf(child.name))),
      ],
    };
  }
}
