/** Rows of one type as a table: what is asked for them, and what comes of the answer. */
import { getNullableType, isListType, type GraphQLObjectType } from 'graphql';
import type { FieldFact } from '../../../contract/facts';
import { BASE } from '../../../rest/routes';
import { cellsOf, isColumn, nameOf, plural, selectionOf, setAs, shownFacts, singular, type EndpointOf, type Row } from './cells';
import { childrenOf, type Children } from './children';
import { callingOf, type Calling } from './naming';
import type { Cell, Sheet, SheetRow } from './view';
import { labelOf, wordsOf } from './wording';

/** Names in a cell; the row's own page has all. */
const MAX_NAMES = 4;
const IMAGES = 'images';

function namesOf(type: GraphQLObjectType, rows: readonly Row[], endpoint: string | undefined): Cell {
  const links = rows.map((row) => ({
    label: nameOf(type, row),
    id: String(row.id),
    ...(endpoint !== undefined && { href: `${BASE}/${endpoint}/${String(row.id)}/` }),
  }));
  return short({ links });
}

function short(cell: Cell): Cell {
  const { links = [] } = cell;
  const left = links.length - MAX_NAMES;
  return left > 0 ? { links: [...links.slice(0, MAX_NAMES), { label: `${left} more`, id: '' }] } : cell;
}

/** The name first, then what else tells of a row, then what hangs below it. */
export class SheetPlan {
  readonly selection: string;
  private readonly calling: Calling;
  private readonly columns: Sheet['columns'];
  private readonly facts: readonly FieldFact[];
  private readonly parts: readonly Children[];
  private readonly hasImages: boolean;

  /** `without`: a column that is the same for all rows, as their parent is. */
  constructor(
    private readonly type: GraphQLObjectType,
    private readonly rest: string | undefined,
    private readonly pathOf: EndpointOf,
    without?: FieldFact,
  ) {
    this.calling = callingOf(type, type.extensions.resource!, without);
    const { paths, selection } = this.calling;
    const shown = shownFacts(type);
    this.facts = shown.filter((fact) => fact !== without && isColumn(fact, this.calling));
    this.parts = childrenOf(type).filter(({ nodes, child }) => !nodes && child.extensions.resource!.owned);
    this.hasImages = isListType(getNullableType(type.getFields()[IMAGES]?.type));
    const own = paths.length === 1 && paths[0]!.length === 1 ? shown.find(({ name }) => name === paths[0]![0]) : undefined;
    this.columns = [
      { key: own?.rest ?? '', label: own ? labelOf(own) : singular(type), sortable: own?.ordered ?? false },
      ...this.facts.map((fact) => ({ key: fact.rest, label: labelOf(fact), sortable: fact.ordered, as: setAs(fact) })),
      ...this.parts.map(({ name }) => ({ key: name, label: wordsOf(name), sortable: false })),
    ];
    this.selection = [
      'id',
      selection,
      ...this.facts.map((fact) => selectionOf(type, fact)),
      this.hasImages ? `${IMAGES} { image }` : '',
      ...this.parts.map(({ name, child }) => `${name} { id ${callingOf(child, child.extensions.resource!).selection} }`),
    ].join(' ');
  }

  sheet(rows: readonly Row[]): Sheet {
    const shown = this.facts.map((fact) => cellsOf(this.type, fact, rows, this.pathOf));
    return { title: plural(this.type), columns: this.columns, rows: rows.map((row) => this.rowOf(row, shown)) };
  }

  private rowOf(row: Row, shown: readonly ((row: Row) => Cell)[]): SheetRow {
    const { type, rest, parts, pathOf } = this;
    const image = this.hasImages ? (row[IMAGES] as Row[])[0]?.image : undefined;
    return {
      id: String(row.id),
      name: nameOf(type, row, this.calling),
      ...(rest !== undefined && { href: `${BASE}/${rest}/${String(row.id)}/` }),
      ...(typeof image === 'string' && { picture: image }),
      cells: [
        ...shown.map((cell) => short(cell(row))),
        ...parts.map(({ name, child }) => namesOf(child, row[name] as Row[], pathOf(child.name))),
      ],
    };
  }
}
