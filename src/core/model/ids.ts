/** Row ids: positive 32-bit integers. `parseRowId` returns undefined for anything that cannot be the id of a row. */
import { MAX_INTEGER } from '../../contract/bounds';

export function parseRowId(value: unknown): number | undefined {
  const text = String(value);
  if (!/^\d{1,10}$/.test(text)) return undefined;
  const id = Number(text);
  return id <= MAX_INTEGER ? id : undefined;
}
