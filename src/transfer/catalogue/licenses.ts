/** Licences under which sources publish their data. */
import type { Row } from '../../database/rows';
import { hasFields, isName, isOptional, isText, type Checked } from './checks';

export const isLicense = hasFields({
  shortName: isName(15),
  fullName: isText(60),
  url: isOptional(isText(200)),
});

export type SourceLicense = Checked<typeof isLicense>;

export const CC0: SourceLicense = {
  shortName: 'CC0',
  fullName: 'Creative Commons Zero 1.0',
  url: 'https://creativecommons.org/publicdomain/zero/1.0/',
};

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
