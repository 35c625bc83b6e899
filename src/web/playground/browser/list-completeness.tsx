/** Says that the result contains only a part of a list, and offers the rest. */
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { parse, type ExecutionResult } from 'graphql';
import { useEffect, useMemo, useState } from 'react';
import { MAX_PAGE_SIZE } from '../../../shared/page-size';
import {
  describeRowCount,
  findPartialList,
  formatCount,
  totalCountIn,
  totalCountQueryOf,
  withRequestedCount,
  type PartialList,
} from '../answer/list-completeness';
import { rowCountAtPath, type ResultList } from '../answer/table';
import { BASE_PATH } from './base-path';
import { fetchOutsideOfRun } from './fetcher';
import type { RunReport } from './state';

/** Counts all rows of the list, for one more request that is charged. */
function useTotalCount(
  list: PartialList | undefined,
  { request, headers }: RunReport,
): number | undefined {
  const [total, setTotal] = useState<{ list: PartialList; count: number }>();

  useEffect(() => {
    if (!list?.hasTotalCount) return;
    const controller = new AbortController();
    const countRequest = { query: totalCountQueryOf(list), variables: request.variables };

    fetchOutsideOfRun(countRequest, headers, controller.signal).then(
      ({ data }) => {
        const count = totalCountIn(data, list);

        if (count !== undefined) setTotal({ list, count });
      },
      // The sentence then lacks the total.
      () => undefined,
    );

    return () => controller.abort();
  }, [list, request, headers]);

  return total?.list === list ? total?.count : undefined;
}

export function ListCompleteness({
  run: runReport,
  result,
  list,
}: {
  run: RunReport;
  result: ExecutionResult;
  list: ResultList;
}) {
  const { schema, queryEditor, variableEditor } = useGraphiQL(
    pick('schema', 'queryEditor', 'variableEditor'),
  );
  const { run } = useGraphiQLActions();
  const { request } = runReport;
  const rowCount = rowCountAtPath(result.data, list.outermostListPath);
  const partialList = useMemo(() => {
    if (!schema) return undefined;

    return findPartialList(schema, { ...request, query: parse(request.query) }, list, rowCount);
  }, [schema, request, list, rowCount]);
  const total = useTotalCount(partialList, runReport);

  if (!partialList || total === rowCount) return null;
  if (partialList.hasTotalCount && total === undefined) return null;
  const requestedCount = Math.min(total ?? MAX_PAGE_SIZE, MAX_PAGE_SIZE);

  const requestMoreRows = () => {
    const { query, variables } = withRequestedCount(request.query, partialList, requestedCount);

    queryEditor?.setValue(query);

    if (variables) {
      variableEditor?.setValue(JSON.stringify({ ...request.variables, ...variables }, null, 2));
    }

    void run();
  };

  return (
    <p className="completeness" role="status">
      {describeRowCount(partialList, rowCount, total)}{' '}
      {rowCount < requestedCount ? (
        <button onClick={requestMoreRows}>Load {formatCount(requestedCount)}</button>
      ) : (
        <a href={`${BASE_PATH}/docs/analysts`}>Export the rest as a file</a>
      )}
    </p>
  );
}
