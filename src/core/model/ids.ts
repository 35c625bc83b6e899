/** Ids are 32-bit integers; anything else names no row. */
const MAX = 2_147_483_647;

export function parseId(value: unknown): number | undefined {
  const text = String(value);
  if (!/^\d{1,10}$/.test(text)) return undefined;
  const id = Number(text);
  return id <= MAX ? id : undefined;
}
