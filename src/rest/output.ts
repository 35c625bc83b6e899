/** The value of an action or of an endpoint of its own as the body that REST shows. */
import type { BodyFact } from '../extensions';

export function bodyOf({ key, maps = [] }: BodyFact, value: any): unknown {
  const shown = maps.length ? { ...value } : value;
  for (const name of maps)
    shown[name] = Object.fromEntries(shown[name].map((entry: { key: string; value: unknown }) => [entry.key, entry.value]));
  if (key === undefined) return shown;
  return shown === null ? {} : { [key]: shown };
}
