/**
 * Admission of operations: checks access to introspection, coerces variables, estimates the cost
 * and reserves it.
 */
import type {
  DocumentNode,
  ExecutionResult,
  GraphQLError,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql';
import type { Context, CostReservation } from '../context';
import { ClientError, unauthenticatedError } from '../declare/errors';
import { estimateOperationCost, type CatalogueSizes, type OperationCost } from './cost';
import { INTROSPECTION_REQUIRES_SIGN_IN_MESSAGE } from '../../shared/messages';
import { containsIntrospection } from './introspection';
import { coerceVariables } from './variables';

type Variables = Record<string, unknown>;

/**
 * The errors of a rejected operation, or the cost reservation of an admitted operation. Clients
 * without a budget have no reservation.
 */
interface AdmissionResult {
  errors?: readonly GraphQLError[];
  reservation?: CostReservation;
}

export interface AdmissionOptions {
  maxCost?: number;

  /** Who may introspect the schema. Defaults to anyone. */
  introspection?: 'anyone' | 'users';
  catalogueSizes?: CatalogueSizes;
}

type ReportedCost = Pick<OperationCost, 'total' | 'coordinate' | 'argumentToReduce'>;

/** Reports the estimated cost in `extensions`, for the error COST_LIMIT and for dry runs. */
const costExtensions = ({ total, coordinate, argumentToReduce }: ReportedCost, limit: number) => ({
  cost: Math.ceil(total),
  limit,
  coordinate,
  ...(argumentToReduce && { argument: argumentToReduce }),
});

function costLimitError(operationCost: ReportedCost, limit: number): ClientError {
  const extensions = costExtensions(operationCost, limit);
  const { cost, coordinate, argument } = extensions;
  const advice = argument ? `reduce ${argument} or select less below it` : 'select less below it';

  return new ClientError(
    'COST_LIMIT',
    `The estimated cost of this operation is ${cost}; the maximum is ${limit}. Most of it comes from ${coordinate}: ${advice}.`,
    extensions,
  );
}

export class OperationAdmission {
  private readonly maxCost: number;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly options: AdmissionOptions,
  ) {
    this.maxCost = options.maxCost ?? Infinity;
  }

  permitsIntrospection({ viewer }: Context): boolean {
    return this.options.introspection !== 'users' || viewer !== null;
  }

  clampToMaxCost(cost: OperationCost): OperationCost {
    const { maxCost } = this;

    return cost.total > maxCost ? { ...cost, total: maxCost } : cost;
  }

  /**
   * Reserves the cost of an operation. Rejects operations that are too expensive or exceed the
   * remaining budget.
   */
  async reserve(cost: OperationCost, { budget }: Context): Promise<AdmissionResult> {
    const { maxCost } = this;

    if (cost.total > maxCost) return { errors: [costLimitError(cost, maxCost)] };

    try {
      return { reservation: await budget?.reserve(cost) };
    } catch (error) {
      if (error instanceof ClientError) return { errors: [error] };
      throw error;
    }
  }

  async admit(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Variables,
    context: Context,
  ): Promise<AdmissionResult> {
    const { cost, errors } = this.estimateCost(document, operation, variables, context);

    return errors ? { errors } : this.reserve(cost, context);
  }

  dryRun(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Variables,
    context: Context,
  ): ExecutionResult {
    const { cost, errors } = this.estimateCost(document, operation, variables, context);

    return errors ? { errors } : { data: null, extensions: costExtensions(cost, this.maxCost) };
  }

  /**
   * Estimates the cost of an operation. Rejects invalid variables and unauthorized introspection.
   */
  private estimateCost(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Variables,
    context: Context,
  ):
    | { cost: OperationCost; errors?: undefined }
    | { cost?: undefined; errors: readonly GraphQLError[] } {
    if (!this.permitsIntrospection(context) && containsIntrospection(document)) {
      return { errors: [unauthenticatedError(INTROSPECTION_REQUIRES_SIGN_IN_MESSAGE)] };
    }

    const coercionResult = coerceVariables(
      this.schema,
      operation,
      variables,
      !this.permitsIntrospection(context),
    );

    if (coercionResult.errors) return { errors: coercionResult.errors };

    return {
      cost: estimateOperationCost(
        this.schema,
        document,
        operation,
        coercionResult.values,
        this.options.catalogueSizes,
      ),
    };
  }
}
