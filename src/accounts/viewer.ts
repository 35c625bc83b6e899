/** The viewer, loaded in the same statement as the credentials that authenticate a request. */
import type { Viewer } from '../engine/context';
import type { Row } from '../database/rows';

export const VIEWER_COLUMNS_SQL = `u."id", u."username", u."is_superuser" AS "isSuperuser",
  p."time_zone" AS "timeZone", p."language"`;

/** SQL: joins the account `u` and its preferences to a table `t` of credentials. */
export const JOIN_VIEWER_SQL = `JOIN "account" u ON u."id" = t."user_id"
  LEFT JOIN "preference" p ON p."user_id" = u."id"`;

export const toViewer = ({ id, username, isSuperuser, timeZone, language }: Row): Viewer => ({
  id,
  username,
  isSuperuser,
  timeZone,
  language,
});
