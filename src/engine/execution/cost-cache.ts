/** Cost cache of one prepared operation. Variables that lead to the same cost share an entry. */
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
import { filterCost } from './argument-cost';
import { estimateOperationCost, type OperationCost } from './cost';

type Variables = Record<string, unknown>;

const MAX_CACHED_COSTS = 200;
const PAGE_SIZE_ARGUMENTS = ['first', 'last'];

export class CostCache {
  private readonly costsByKey = new LRUCache<string, OperationCost>({ max: MAX_CACHED_COSTS });
  private readonly variableNames: readonly string[];

  /** Variables that set page sizes. Other numeric variables do not affect the cost. */
  private readonly pageSizeVariableNames = new Set<string>();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly document: DocumentNode,
    private readonly operation: OperationDefinitionNode,
  ) {
    this.variableNames = (operation.variableDefinitions ?? []).map(
      ({ variable }: VariableDefinitionNode) => variable.name.value,
    );
    visit(document, {
      Argument: ({ name, value }) => {
        if (PAGE_SIZE_ARGUMENTS.includes(name.value) && value.kind === Kind.VARIABLE) {
          this.pageSizeVariableNames.add(value.name.value);
        }
      },
    });
  }

  /** Estimates the cost of the operation with coerced variables. */
  costForVariables(variables: Variables): OperationCost {
    // The cost of a mutation is not cached, because its inputs differ each time.
    if (this.operation.operation === OperationTypeNode.MUTATION) {
      return this.estimateCost(variables);
    }

    const cacheKey = this.variableNames
      .map((name) => this.costKeyPart(name, variables[name]))
      .join();
    const cachedCost = this.costsByKey.get(cacheKey);

    if (cachedCost) return cachedCost;

    const cost = this.estimateCost(variables);

    this.costsByKey.set(cacheKey, cost);
    return cost;
  }

  private estimateCost(variables: Variables): OperationCost {
    return estimateOperationCost(this.schema, this.document, this.operation, variables);
  }

  /**
   * Part of the cache key for one variable. It contains only what affects the cost: the presence of
   * a value, a boolean or page size, the length of a list, and the cost of filter conditions.
   */
  private costKeyPart(name: string, value: unknown): string {
    if (value === undefined || value === null) return '';

    if (typeof value === 'object') {
      return `${Array.isArray(value) ? value.length : ''}:${filterCost(value)}`;
    }

    const affectsCost = typeof value === 'boolean' || this.pageSizeVariableNames.has(name);

    return affectsCost ? String(value) : 'any';
  }
}
