import type { ExecutionResult } from 'graphql';
import { arranged, csvOf } from '../answer/sheet';
import type { Table } from '../answer/table';
import { fileName, save } from './save';
import type { Look } from './state';

/** The table as its reader has arranged it, and the answer as it came. */
export function Downloads({ table, look, answer }: { table: Table; look: Look; answer: ExecutionResult }) {
  return (
    <>
      <button onClick={() => save(fileName('csv'), 'text/csv;charset=utf-8', csvOf(arranged(table, look.arrangement)))}>CSV</button>
      <button onClick={() => save(fileName('json'), 'application/json', JSON.stringify(answer.data, null, 2))}>JSON</button>
    </>
  );
}
