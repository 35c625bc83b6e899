/** What the database refuses of rows, said in their terms. */
import { fail, type DumpRow } from './dump';

/** `row` is the first of those that are written. */
export async function inTermsOf<T>(row: DumpRow, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, detail, message } = error as { code?: string; detail?: string; message: string };
    if (!code || !/^2[23]/.test(code)) throw error;
    return fail(`${row.model} from ${JSON.stringify(row.pk)} on: ${detail ?? message}`);
  }
}
