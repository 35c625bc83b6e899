/** What the database refuses of rows, said in their terms. */
import { at, fail, type DumpRow } from './dump';

export type RowName = Pick<DumpRow, 'model' | 'pk'>;

/** `rows`: what is written, one a line where it is copied. */
export async function inTermsOf<T>(rows: readonly RowName[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, detail, message, where } = error as { code?: string; detail?: string; message: string; where?: string };
    if (!code || !/^2[23]/.test(code)) throw error;
    // Of a key nobody says in which line it is.
    const row = rows[Number(/^COPY \w+, line (\d+)/.exec(where ?? '')?.[1]) - 1];
    const first = rows[0]!;
    return fail(`${row ? at(row) : `${first.model} from ${JSON.stringify(first.pk)} on`}: ${detail ?? message}`);
  }
}
