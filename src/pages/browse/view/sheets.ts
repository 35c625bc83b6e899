/** Rows as tables, and a row with what hangs below it. One operation reads them with all the names, however many rows there are. */
import { getNamedType, getNullableType, isListType, isObjectType, type GraphQLObjectType } from 'graphql';
import type { FieldFact } from '../../../contract/facts';
import type { Endpoint, Prepare, Run } from '../../../rest/endpoints';
import { BASE } from '../../../rest/routes';
import { cellsOf, isColumn, headingOf, nameOf, plural, selectionOf, setAs, shownFacts, singular, type EndpointOf, type Row } from './cells';
import { furtherSelection, trainingOf, translationsOf } from './further';
import { callingOf } from './naming';
import type { Below, Cell, Sheet, SheetRow, Thing } from './view';
import { labelOf, wordsOf } from './wording';

/** Of what hangs below a row: where there is no end of it, and where there is one. */
const MAX_BELOW = 10;
const MOST_BELOW = 50;
/** Names in a cell; the row's own page has all. */
const MAX_NAMES = 4;
const IMAGES = 'images';

interface Plan {
  selection: string;
  sheet(rows: readonly Row[]): Sheet;
}

interface Branch {
  /** GraphQL's, which is the key of the answer. */
  name: string;
  selection: string;
  below(value: unknown, id: string, signedIn: boolean): Below | undefined;
}

export interface Sheets {
  /** The rows with these ids, in their order. */
  list(endpoint: Endpoint, ids: readonly string[], context: object): Promise<Sheet | undefined>;
  thing(endpoint: Endpoint, id: string, context: object, signedIn: boolean): Promise<Thing | undefined>;
}

interface Children {
  name: string;
  child: GraphQLObjectType;
  /** It has pages. */
  nodes: boolean;
}

/** Lists of rows that are no relation of the row itself. */
function childrenOf(parent: GraphQLObjectType): Children[] {
  const own = shownFacts(parent).map(({ relation }) => relation?.object);
  return Object.values(parent.getFields()).flatMap(({ name, type, extensions }) => {
    if (own.includes(name) || extensions.field || extensions.action) return [];
    const holder = getNamedType(type);
    const nodes = isObjectType(holder) && holder.name.endsWith('Connection') ? holder.getFields().nodes : undefined;
    const child = nodes ? getNamedType(nodes.type) : isListType(getNullableType(type)) ? holder : undefined;
    return isObjectType(child) && child.extensions.resource ? [{ name, child, nodes: nodes !== undefined }] : [];
  });
}

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

/** Whoever thinks in pounds has sums in ounces. */
export const isImperial = ({ unitSystem }: Row): boolean => ['lb', 'IMPERIAL'].includes(String(unitSystem));

/** The energy of a day that somebody wants, in kcal. */
function goalOf({ hasGoalCalories, user }: Row): { goal?: number } {
  const calories = (user as { profile: { calories: number | null } | null } | null | undefined)?.profile?.calories;
  return hasGoalCalories === true && calories ? { goal: calories } : {};
}

export function sheetsOf(prepare: Prepare, endpointOf: (type: string) => Endpoint | undefined): Sheets {
  const pathOf: EndpointOf = (type) => endpointOf(type)?.view.rest;
  const runs = new Map<string, Run>();
  const prepared = (document: string): Run => {
    if (!runs.has(document)) runs.set(document, prepare(document));
    return runs.get(document)!;
  };

  /** The name first, then what else tells of a row, then what hangs below it. A column that is the same for all rows, as their parent is, may be left out. */
  function planOf(type: GraphQLObjectType, rest: string | undefined, without?: FieldFact): Plan {
    const { paths, selection } = callingOf(type, type.extensions.resource!);
    const facts = shownFacts(type).filter((fact) => fact !== without && isColumn(fact, type));
    const own = paths.length === 1 && paths[0]!.length === 1 ? shownFacts(type).find(({ name }) => name === paths[0]![0]) : undefined;
    const hasImages = isListType(getNullableType(type.getFields()[IMAGES]?.type));
    const parts = childrenOf(type).filter(({ nodes, child }) => !nodes && child.extensions.resource!.owned);
    const columns = [
      { key: own?.rest ?? '', label: own ? labelOf(own) : singular(type), sortable: own?.ordered ?? false },
      ...facts.map((fact) => ({ key: fact.rest, label: labelOf(fact), sortable: fact.ordered, as: setAs(fact) })),
      ...parts.map(({ name }) => ({ key: name, label: wordsOf(name), sortable: false })),
    ];
    const rowOf = (row: Row, shown: readonly ((row: Row) => Cell)[]): SheetRow => {
      const image = hasImages ? (row[IMAGES] as Row[])[0]?.image : undefined;
      return {
        id: String(row.id),
        name: nameOf(type, row),
        ...(rest !== undefined && { href: `${BASE}/${rest}/${String(row.id)}/` }),
        ...(typeof image === 'string' && { picture: image }),
        cells: [
          ...shown.map((cell) => short(cell(row))),
          ...parts.map(({ name, child }) => namesOf(child, row[name] as Row[], pathOf(child.name))),
        ],
      };
    };
    const below = parts.map(({ name, child }) => `${name} { id ${callingOf(child, child.extensions.resource!).selection} }`);
    return {
      selection: ['id', selection, ...facts.map((fact) => selectionOf(type, fact)), hasImages ? `${IMAGES} { image }` : '', ...below].join(
        ' ',
      ),
      sheet(rows) {
        const shown = facts.map((fact) => cellsOf(type, fact, rows, pathOf));
        return { title: plural(type), columns, rows: rows.map((row) => rowOf(row, shown)) };
      },
    };
  }

  function branchOf(parent: GraphQLObjectType, { name, child, nodes }: Children): Branch | undefined {
    const endpoint = endpointOf(child.name);
    if (!endpoint) return undefined;
    const parents = endpoint.fields.filter(({ relation }) => relation?.type === parent.name);
    const back = parents.length === 1 ? parents[0] : undefined;
    const filter = back && endpoint.view.filters.find((fact) => fact.field === back.name);
    const { selection, sheet } = planOf(child, endpoint.view.rest, back);
    const [first] = endpoint.resource.ordering;
    // Of what is ordered by time the newest are wanted.
    const isOld = nodes && endpoint.fields.some((fact) => fact.name === first && ['date', 'datetime'].includes(fact.kind));
    const inner = `{ ${selection} }`;
    return {
      name,
      selection: nodes ? `${name}(${isOld ? 'last' : 'first'}: ${MAX_BELOW}) { totalCount nodes ${inner} }` : `${name} ${inner}`,
      below(value, id, signedIn) {
        // Nobody is shown what is somebody's.
        if (value === null || value === undefined) return undefined;
        const { totalCount, nodes: all } = nodes
          ? (value as { totalCount: number; nodes: Row[] })
          : { totalCount: (value as Row[]).length, nodes: value as Row[] };
        const rows = isOld ? [...all].reverse() : all.slice(0, MOST_BELOW);
        const address = filter && `${BASE}/${endpoint.view.rest}/?${filter.key ?? back.rest}=${id}`;
        return {
          label: wordsOf(name),
          total: totalCount,
          sheet: sheet(rows),
          ...(address && { all: address }),
          ...(address && signedIn && endpoint.create && endpoint.resource.owned && { add: `${address}#write` }),
        };
      },
    };
  }

  const known = new Map<string, { plan: Plan; branches: readonly Branch[] }>();
  function knownOf({ view, type }: Endpoint) {
    if (!known.has(view.rest)) {
      const branches = childrenOf(type).flatMap((children) => branchOf(type, children) ?? []);
      known.set(view.rest, { plan: planOf(type, view.rest), branches });
    }
    return known.get(view.rest)!;
  }

  return {
    async list(endpoint, ids, context) {
      const { type, resource } = endpoint;
      const { plan } = knownOf(endpoint);
      const document = `query ($where: ${type.name}Where, $first: Int) { page: ${resource.many}(where: $where, first: $first) { nodes { ${plan.selection} } } }`;
      const { data } = ids.length
        ? await prepared(document)(context, { where: { id: { in: [...new Set(ids)] } }, first: ids.length })
        : { data: { page: { nodes: [] } } };
      if (!data?.page) return undefined;
      const byId = new Map((data.page.nodes as Row[]).map((row) => [String(row.id), row]));
      return plan.sheet(ids.map((id) => byId.get(id)).filter((row) => row !== undefined));
    },

    async thing(endpoint, id, context, signedIn) {
      const { type, resource } = endpoint;
      const { branches } = knownOf(endpoint);
      const facts = shownFacts(type).filter(({ name }) => name !== 'id');
      const { unitSystem, hasGoalCalories } = type.getFields();
      const parts = [
        furtherSelection(type),
        unitSystem ? 'unitSystem' : '',
        hasGoalCalories ? 'hasGoalCalories user { profile { calories } }' : '',
        callingOf(type, resource).selection,
        ...facts.map((fact) => selectionOf(type, fact)),
        ...branches.map(({ selection }) => selection),
      ];
      const { data } = await prepared(`query ($id: ID!) { row: ${resource.one}(id: $id) { id ${parts.join(' ')} } }`)(context, { id });
      const row = data?.row as Row | null | undefined;
      if (!row) return undefined;
      const training = trainingOf(row);
      return {
        name: headingOf(type, row),
        massUnit: isImperial(row) ? 'oz' : 'g',
        ...goalOf(row),
        ...(training && { training }),
        facts: [
          ...facts.map((fact) => ({ label: labelOf(fact), key: fact.rest, cell: cellsOf(type, fact, [row], pathOf)(row) })),
          translationsOf(type, row),
        ],
        below: branches.flatMap(({ name, below }) => below(row[name], id, signedIn) ?? []),
      };
    },
  };
}
