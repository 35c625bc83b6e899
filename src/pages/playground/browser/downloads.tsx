/** Download buttons: the table as CSV, sorted and filtered as on the page, and the data of the response as JSON. */
import type { ExecutionResult } from 'graphql';
import { arrangeTable, csvOf } from '../answer/arrangement';
import type { Table } from '../answer/table';
import { downloadFileName, downloadFile } from './downloadfile';
import type { ViewState } from './state';

export function Downloads({ table, viewState, result }: { table: Table; viewState: ViewState; result: ExecutionResult }) {
  return (
    <>
      <button
        onClick={() => downloadFile(downloadFileName('csv'), 'text/csv;charset=utf-8', csvOf(arrangeTable(table, viewState.arrangement)))}
      >
        CSV
      </button>
      <button onClick={() => downloadFile(downloadFileName('json'), 'application/json', JSON.stringify(result.data, null, 2))}>JSON</button>
    </>
  );
}
