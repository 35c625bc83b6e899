/**
 * Header and summary of a backup archive. Both are validated before anything else in the archive is
 * used.
 */
import { ClientError } from '../../engine/declare/errors';

export const BACKUP_FORMAT_VERSION = 1;
export const HEADER_ENTRY_NAME = 'backup.json';
export const SUMMARY_ENTRY_NAME = 'summary.json';

/** Maximum length of quoted archive content in an error message, in characters. */
const MAX_QUOTED_LENGTH = 200;
const UTC_TIMESTAMP_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/;

export interface TableDescription {
  name: string;
  columns: string[];
}

export interface BackupHeader {
  format: number;

  /** Version of Fitgraph that created the backup. */
  program: string;

  /** Time of the backup, in UTC. */
  taken: string;

  /** Version of PostgreSQL. */
  postgres: string;

  migrations: string[];
  tables: TableDescription[];
}

/**
 * State of the sequence of an identity column. `last` and `called` are PostgreSQL's `last_value`
 * and `is_called`.
 */
export interface SequenceState {
  table: string;
  column: string;
  last: string;
  called: boolean;
}

export interface BackupSummary {
  /** Number of rows by table. */
  rows: Record<string, number>;
  sequences: SequenceState[];
  files: number;
  bytes: number;
}

export const invalidBackupError = (file: string, problem: string) =>
  new ClientError('BAD_USER_INPUT', `${file} is not a usable backup: ${problem}`);

/**
 * Escapes control and format characters, and truncates the text, because untrusted archive content
 * must not span lines or control the terminal.
 */
export function escapeToOneLine(text: string): string {
  const escapedText = text.replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );

  if (escapedText.length <= MAX_QUOTED_LENGTH) return escapedText;

  return `${escapedText.slice(0, MAX_QUOTED_LENGTH)}…`;
}

export const formatArchiveValue = (value: unknown): string =>
  escapeToOneLine(JSON.stringify(value ?? null));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
const areDistinctNames = (names: unknown): names is string[] =>
  Array.isArray(names) &&
  names.every((name) => typeof name === 'string') &&
  new Set(names).size === names.length;

/**
 * Checks the types in a backup header. Accepts headers of other format versions, which
 * `parseHeader` rejects.
 */
const isValidHeader = ({
  format,
  program,
  taken,
  migrations,
  tables,
}: Record<string, unknown>): boolean =>
  format !== BACKUP_FORMAT_VERSION ||
  (typeof program === 'string' &&
    UTC_TIMESTAMP_PATTERN.test(String(taken)) &&
    areDistinctNames(migrations) &&
    Array.isArray(tables) &&
    tables.every((table) => isObject(table) && areDistinctNames(table.columns)) &&
    areDistinctNames(tables.map(({ name }) => name)));

const isValidSummary = ({ rows, sequences }: Record<string, unknown>): boolean =>
  isObject(rows) && Array.isArray(sequences) && sequences.every(isObject);

function parseJson<T>(
  file: string,
  entryName: string,
  content: Buffer,
  isValid: (value: Record<string, unknown>) => boolean,
): T {
  const value: unknown = JSON.parse(content.toString());

  if (!isObject(value) || !isValid(value)) {
    throw invalidBackupError(
      file,
      `${entryName} has a value of the wrong type or a duplicate name`,
    );
  }

  return value as T;
}

export function parseHeader(file: string, content: Buffer): BackupHeader {
  const header = parseJson<BackupHeader>(file, HEADER_ENTRY_NAME, content, isValidHeader);

  if (header.format !== BACKUP_FORMAT_VERSION) {
    throw invalidBackupError(
      file,
      `its format version is ${formatArchiveValue(header.format)}, but this version of Fitgraph supports ${BACKUP_FORMAT_VERSION}`,
    );
  }

  return header;
}

export const parseSummary = (file: string, content: Buffer): BackupSummary =>
  parseJson<BackupSummary>(file, SUMMARY_ENTRY_NAME, content, isValidSummary);
