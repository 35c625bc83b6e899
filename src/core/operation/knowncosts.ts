/** The cost of one operation of our own that runs again and again: worked out once for all variables that make it the same. */
import {
  Kind,
  OperationTypeNode,
  visit,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { conditionsCost } from './argumentcost';
import { costOf, type Cost } from './cost';

type Variables = Record<string, unknown>;

const MAX_KNOWN = 200;
const PAGE_SIZES = ['first', 'last'];

export class KnownCosts {
  private readonly known = new LRUCache<string, Cost>({ max: MAX_KNOWN });
  private readonly names: readonly string[];
  /** Of variables that are sizes of pages; of other numbers it does not matter which they are. */
  private readonly sizes = new Set<string>();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly document: DocumentNode,
    private readonly operation: OperationDefinitionNode,
  ) {
    this.names = (operation.variableDefinitions ?? []).map(({ variable }: VariableDefinitionNode) => variable.name.value);
    visit(document, {
      Argument: ({ name, value }) => {
        if (PAGE_SIZES.includes(name.value) && value.kind === Kind.VARIABLE) this.sizes.add(value.name.value);
      },
    });
  }

  /** `variables` are those that graphql-js has coerced. */
  of(variables: Variables): Cost {
    // What is written is different each time.
    if (this.operation.operation === OperationTypeNode.MUTATION) return this.fresh(variables);
    const key = this.names.map((name) => this.weighed(name, variables[name])).join();
    let cost = this.known.get(key);
    if (!cost) this.known.set(key, (cost = this.fresh(variables)));
    return cost;
  }

  private fresh(variables: Variables): Cost {
    return costOf(this.schema, this.document, this.operation, variables);
  }

  /** All of a value that a cost depends on: how large a page or a list is, how much its conditions weigh, whether it is there. */
  private weighed(name: string, value: unknown): string {
    if (value === undefined || value === null) return '';
    if (typeof value === 'object') return `${Array.isArray(value) ? value.length : ''}:${conditionsCost(value)}`;
    return typeof value === 'boolean' || this.sizes.has(name) ? String(value) : 'any';
  }
}
