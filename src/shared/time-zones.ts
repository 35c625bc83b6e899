/**
 * Time zone names of the IANA database (https://www.iana.org/time-zones) in requests and settings.
 */
import { IANAZone } from 'luxon';

/** Syntax of time zone names, which rejects long inputs before a lookup. */
const TIME_ZONE_NAME_PATTERN = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

/**
 * Time zones that PostgreSQL does not know or takes for fixed offsets, with their equivalents
 * according to the IANA database.
 */
const LINKED_ZONE_BY_NAME: Readonly<Record<string, string>> = {
  CET: 'Europe/Brussels',
  EET: 'Europe/Athens',
  MET: 'Europe/Brussels',
  WET: 'Europe/Lisbon',
  'CANADA/EAST-SASKATCHEWAN': 'America/Regina',
  'US/PACIFIC-NEW': 'America/Los_Angeles',
};

/**
 * Three-letter abbreviations such as IST, which are rejected unless they are names in the IANA
 * database. Node accepts them, but PostgreSQL knows them as other zones or not at all.
 */
const ABBREVIATION_PATTERN = /^(?!UTC|GMT|UCT|EST|MST|HST|PRC|ROC|ROK)[A-Z]{3}$/i;

/** Finds the name by which both Node and PostgreSQL know a time zone. */
export function resolveTimeZone(name: string): string | undefined {
  if (!TIME_ZONE_NAME_PATTERN.test(name)) return undefined;
  const linkedZone = LINKED_ZONE_BY_NAME[name.toUpperCase()];

  if (linkedZone !== undefined) return linkedZone;

  return !ABBREVIATION_PATTERN.test(name) && IANAZone.isValidZone(name) ? name : undefined;
}
