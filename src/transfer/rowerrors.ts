/** Converts database errors (invalid data and constraint violations) into messages that name the row of the dump. */
import { describeRow, failImport, type DumpRow } from './dump';

export type RowIdentity = Pick<DumpRow, 'model' | 'pk'>;

/** Runs `callback`, which writes `rows`, and names the row in database errors. If it uses COPY, the line number in an error is the position of the row. */
export async function withRowNamedInErrors<T>(
  rows: readonly RowIdentity[],
  callback: () => Promise<T>,
): Promise<T> {
  try {
    return await callback();
  } catch (error) {
    const { code, detail, message, where } = error as {
      code?: string;
      detail?: string;
      message: string;
      where?: string;
    };
    if (!code || !/^2[23]/.test(code)) throw error;
    // No row is found if the error has no line number, for example if a foreign key is violated.
    const row = rows[Number(/^COPY \w+, line (\d+)/.exec(where ?? '')?.[1]) - 1];
    const firstRow = rows[0]!;
    return failImport(
      `${row ? describeRow(row) : `${firstRow.model} from ${JSON.stringify(firstRow.pk)} on`}: ${detail ?? message}`,
    );
  }
}
