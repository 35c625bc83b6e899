/** Download buttons: the table as CSV, sorted and filtered like on the page, and the data of the response as JSON. */
import type { ExecutionResult } from 'graphql';
import { arranged, csvOf } from '../answer/sheet';
import type { Table } from '../answer/table';
import { fileName, save } from './save';
import type { Look } from './state';

export function Downloads({ table, look, answer }: { table: Table; look: Look; answer: ExecutionResult }) {
  return (
    <>
      <button onClick={() => save(fileName('csv'), 'text/csv;charset=utf-8', csvOf(arranged(table, look.arrangement)))}>CSV</button>
      <button onClick={() => save(fileName('json'), 'application/json', JSON.stringify(answer.data, null, 2))}>JSON</button>
    </>
  );
}
