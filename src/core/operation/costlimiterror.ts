/** The estimated cost of an operation as clients receive it, and the error COST_LIMIT. */
import { ClientError } from '../model/errors';
import type { OperationCost } from './cost';

type ReportedCost = Pick<OperationCost, 'total' | 'coordinate' | 'argumentToReduce'>;

/** Returns the estimated cost as clients receive it, in `extensions` of COST_LIMIT and of dry runs. */
export const costExtensions = ({ total, coordinate, argumentToReduce }: ReportedCost, limit: number) => ({
  cost: Math.ceil(total),
  limit,
  coordinate,
  ...(argumentToReduce && { argument: argumentToReduce }),
});

export function costLimitError(reported: ReportedCost, limit: number): ClientError {
  const extensions = costExtensions(reported, limit);
  const { cost, coordinate, argument } = extensions;
  const advice = argument ? `reduce ${argument} or select less below it` : 'select less below it';
  return new ClientError(
    'COST_LIMIT',
    `The estimated cost of this operation is ${cost}; the maximum is ${limit}. Most of it comes from ${coordinate}: ${advice}.`,
    extensions,
  );
}
