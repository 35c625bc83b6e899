/**
 * Gauge of the estimated cost of the query in the editor. A dry run updates it after each change.
 */
import { pick, useGraphiQL } from '@graphiql/react';
import { useEffect, useState } from 'react';
import { estimateCost, type CostEstimate } from './fetcher';

const TYPING_PAUSE_MS = 600;

type TabRequest = Record<'query' | 'variables' | 'headers' | 'operationName', string | null>;

const parseJsonObject = (json: string | null) =>
  json?.trim() ? (JSON.parse(json) as Record<string, string>) : undefined;

/**
 * Estimates the cost of the operation in a tab, unless its query, variables or headers are
 * incomplete.
 */
async function estimateTabCost(
  { query, variables, headers, operationName }: TabRequest,
  signal: AbortSignal,
): Promise<CostEstimate | undefined> {
  if (!query?.trim()) return undefined;

  try {
    return await estimateCost(
      { query, variables: parseJsonObject(variables), operationName },
      parseJsonObject(headers),
      signal,
    );
  } catch {
    return undefined;
  }
}

export function CostGauge() {
  const { tabs, activeTabIndex } = useGraphiQL(pick('tabs', 'activeTabIndex'));
  const {
    query = null,
    variables = null,
    headers = null,
    operationName = null,
  } = tabs[activeTabIndex] ?? {};
  const [estimate, setEstimate] = useState<CostEstimate>();

  useEffect(() => {
    const abortController = new AbortController();

    const updateEstimate = async () => {
      const result = await estimateTabCost(
        { query, variables, headers, operationName },
        abortController.signal,
      );

      if (!abortController.signal.aborted) setEstimate(result);
    };

    const timer = setTimeout(() => void updateEstimate(), TYPING_PAUSE_MS);

    return () => {
      clearTimeout(timer);
      abortController.abort();
    };
  }, [query, variables, headers, operationName]);

  if (!estimate) return null;
  const { cost, limit, coordinate, argument } = estimate;

  return (
    <label className="gauge" title={coordinate && `Most expensive field: ${coordinate}`}>
      Estimated cost {cost.toLocaleString('en')} of {limit.toLocaleString('en')}
      <meter value={cost} max={limit} high={limit / 2} optimum={0} />
      {cost > limit && <strong>Too high{argument && `: reduce ${argument}`}</strong>}
    </label>
  );
}
