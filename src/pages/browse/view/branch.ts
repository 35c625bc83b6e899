/** Rows below a row, as its page shows them: the first, or the newest, with the way to all. */
import type { GraphQLObjectType } from 'graphql';
import type { FieldFact } from '../../../contract/facts';
import type { Endpoint } from '../../../rest/endpoints';
import { BASE } from '../../../rest/routes';
import type { EndpointOf, Row } from './cells';
import type { Children } from './children';
import { SheetPlan } from './sheetplan';
import type { Below } from './view';
import { wordsOf } from './wording';

/** Where there is no end of them, and where there is one. */
const MAX_BELOW = 10;
const MOST_BELOW = 50;

export class Branch {
  /** GraphQL's, which is the key of the answer. */
  readonly name: string;
  readonly selection: string;
  private readonly plan: SheetPlan;
  private readonly nodes: boolean;
  private readonly isOld: boolean;
  /** The list of all, but for the id of their parent. */
  private readonly address?: string;
  private readonly isAddedTo: boolean;

  constructor(
    parent: GraphQLObjectType,
    { name, child, nodes }: Children,
    { view, fields, resource, create }: Endpoint,
    pathOf: EndpointOf,
  ) {
    const back = parentIn(fields, parent);
    const filter = back && view.filters.find((fact) => fact.field === back.name);
    const [first] = resource.ordering;
    // Of what is ordered by time the newest are wanted.
    const isOld = nodes && fields.some((fact) => fact.name === first && ['date', 'datetime'].includes(fact.kind));
    this.name = name;
    this.plan = new SheetPlan(child, view.rest, pathOf, back);
    this.nodes = nodes;
    this.isOld = isOld;
    if (filter) this.address = `${BASE}/${view.rest}/?${filter.key ?? back.rest}=`;
    this.isAddedTo = create !== undefined && resource.owned;
    const rows = `{ ${this.plan.selection} }`;
    this.selection = nodes ? `${name}(${isOld ? 'last' : 'first'}: ${MAX_BELOW}) { totalCount nodes ${rows} }` : `${name} ${rows}`;
  }

  /** Nothing where the value is one that nobody is shown. */
  below(value: unknown, id: string, signedIn: boolean): Below | undefined {
    if (value === null || value === undefined) return undefined;
    const { totalCount, nodes: all } = this.nodes
      ? (value as { totalCount: number; nodes: Row[] })
      : { totalCount: (value as Row[]).length, nodes: value as Row[] };
    const address = this.address && this.address + id;
    return {
      label: wordsOf(this.name),
      total: totalCount,
      sheet: this.plan.sheet(this.isOld ? [...all].reverse() : all.slice(0, MOST_BELOW)),
      ...(address && { all: address }),
      ...(address && signedIn && this.isAddedTo && { add: `${address}#write` }),
    };
  }
}

/** The one field by which rows name such a parent. */
function parentIn(fields: readonly FieldFact[], parent: GraphQLObjectType): FieldFact | undefined {
  const parents = fields.filter(({ relation }) => relation?.type === parent.name);
  return parents.length === 1 ? parents[0] : undefined;
}
