/** Names of time zones of the IANA database (https://www.iana.org/time-zones), as requests and settings contain them. */
import { IANAZone } from 'luxon';

/** Syntax of time zone names. It is checked before a name is looked up, so that long inputs are never looked up. */
const TIME_ZONE_NAME_PATTERN = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

/**
 * Time zones whose names PostgreSQL does not know or takes for abbreviations of a fixed offset, each with the zone to which the IANA database links it.
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
 * Three-letter time zone abbreviations that are rejected, such as IST: all except names of the IANA database. Node accepts them, but PostgreSQL does not
 * know them or takes them for abbreviations of other zones.
 */
const ABBREVIATION_PATTERN = /^(?!UTC|GMT|UCT|EST|MST|HST|PRC|ROC|ROK)[A-Z]{3}$/i;

/** Returns the name under which Node and PostgreSQL know the same zone, or undefined if there is no zone with this name. */
export function resolveTimeZone(name: string): string | undefined {
  if (!TIME_ZONE_NAME_PATTERN.test(name)) return undefined;
  const linkedZone = LINKED_ZONE_BY_NAME[name.toUpperCase()];
  if (linkedZone !== undefined) return linkedZone;
  return !ABBREVIATION_PATTERN.test(name) && IANAZone.isValidZone(name) ? name : undefined;
}
