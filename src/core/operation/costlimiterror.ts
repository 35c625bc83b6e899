/** The error COST_LIMIT, and the representation of estimated costs in responses. */
import { ClientError } from '../model/errors';
import type { OperationCost } from './cost';

type ReportedCost = Pick<OperationCost, 'total' | 'coordinate' | 'argumentToReduce'>;

/** Returns the `extensions` with the estimated cost, for the error COST_LIMIT and for dry runs. */
export const costExtensions = ({ total, coordinate, argumentToReduce }: ReportedCost, limit: number) => ({
  cost: Math.ceil(total),
  limit,
  coordinate,
  ...(argumentToReduce && { argument: argumentToReduce }),
});

export function costLimitError(operationCost: ReportedCost, limit: number): ClientError {
  const extensions = costExtensions(operationCost, limit);
  const { cost, coordinate, argument } = extensions;
  const advice = argument ? `reduce ${argument} or select less below it` : 'select less below it';
  return new ClientError(
    'COST_LIMIT',
    `The estimated cost of this operation is ${cost}; the maximum is ${limit}. Most of it comes from ${coordinate}: ${advice}.`,
    extensions,
  );
}
