/** Licences under which sources publish their data. */
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

/** Creates the licences of a JSON array (`$1`) that do not exist. */
export const CREATE_LICENSES_SQL = `
INSERT INTO "license" ("short_name", "full_name", "url")
  SELECT DISTINCT ON (g."shortName") g."shortName", g."fullName", g."url"
    FROM json_to_recordset($1) AS g("shortName" text, "fullName" text, "url" text)
    WHERE NOT EXISTS (SELECT FROM "license" l WHERE l."short_name" = g."shortName")`;

/** SQL: the id of a licence by its short name. */
export const licenseIdSql = (shortName: string): string =>
  `(SELECT min(l."id") FROM "license" l WHERE l."short_name" = ${shortName})`;
