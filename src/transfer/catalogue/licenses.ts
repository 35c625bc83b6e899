/** Licences under which sources publish their data. */
import type { Row } from '../../database/rows';

export interface SourceLicense {
  shortName: string;
  fullName: string;
  url: string | null;
}

/** Returns the id of a licence by its short name. Creates it if it does not exist. */
export async function findOrCreateLicense(
  query: (text: string, values: unknown[]) => Promise<Row[]>,
  { shortName, fullName, url }: SourceLicense,
): Promise<number> {
  await query(
    `INSERT INTO "license" ("short_name", "full_name", "url") SELECT $1::varchar, $2, $3
      WHERE NOT EXISTS (SELECT FROM "license" WHERE "short_name" = $1)`,
    [shortName, fullName, url],
  );
  const [row] = await query('SELECT min("id") AS "id" FROM "license" WHERE "short_name" = $1', [
    shortName,
  ]);

  return row!.id;
}
