/** Translation of database errors (data exceptions, constraint violations) into messages that name the row of the dump. */
import { at, fail, type DumpRow } from './dump';

export type RowName = Pick<DumpRow, 'model' | 'pk'>;

/** `rows`: the rows being written; with COPY one per line of its input. */
export async function inTermsOf<T>(rows: readonly RowName[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, detail, message, where } = error as { code?: string; detail?: string; message: string; where?: string };
    if (!code || !/^2[23]/.test(code)) throw error;
    // Foreign key violations carry no line number.
    const row = rows[Number(/^COPY \w+, line (\d+)/.exec(where ?? '')?.[1]) - 1];
    const firstRow = rows[0]!;
    return fail(`${row ? at(row) : `${firstRow.model} from ${JSON.stringify(firstRow.pk)} on`}: ${detail ?? message}`);
  }
}
