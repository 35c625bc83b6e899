/** What a backup says of itself: its header and its summary, which are checked before anything else of it is used. */
import { KnownError } from '../../core/model/errors';

/** Of this form of the file. */
export const FORMAT = 1;
export const HEADER = 'backup.json';
export const SUMMARY = 'summary.json';
/** Characters of an archive's content in an error message. */
const MAX_SHOWN = 200;
const UTC_MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/;

export interface TableShape {
  name: string;
  columns: string[];
}

export interface Header {
  format: number;
  program: string;
  taken: string;
  postgres: string;
  /** Names, in order. */
  migrations: string[];
  tables: TableShape[];
}

/** What identity columns go on from. */
export interface SequenceState {
  table: string;
  column: string;
  last: string;
  called: boolean;
}

export interface Summary {
  /** By table. */
  rows: Record<string, number>;
  sequences: SequenceState[];
  files: number;
  bytes: number;
  digest: string;
}

export const broken = (file: string, problem: string) =>
  new KnownError('BAD_USER_INPUT', `${file} is no backup that can be used: ${problem}`);

/** Escapes control and format characters and shortens the text, so that a message made of an archive's content is one line on a terminal. */
export function toOneLine(text: string): string {
  const escaped = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
  return escaped.length > MAX_SHOWN ? `${escaped.slice(0, MAX_SHOWN)}…` : escaped;
}

/** A value of an archive as JSON, for error messages. */
export const printable = (value: unknown): string => toOneLine(JSON.stringify(value ?? null));

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const areDistinct = (names: unknown): names is string[] =>
  Array.isArray(names) && names.every((name) => typeof name === 'string') && new Set(names).size === names.length;

/** Whether the values have the types that the rest of this program relies on; whether the names exist is decided against the schema. */
const isHeader = ({ format, program, taken, migrations, tables }: Record<string, unknown>): boolean =>
  format !== FORMAT ||
  (typeof program === 'string' &&
    UTC_MOMENT.test(String(taken)) &&
    areDistinct(migrations) &&
    Array.isArray(tables) &&
    tables.every((table) => isObject(table) && areDistinct(table.columns)) &&
    areDistinct(tables.map(({ name }) => name)));

const isSummary = ({ rows, sequences }: Record<string, unknown>): boolean =>
  isObject(rows) && Array.isArray(sequences) && sequences.every(isObject);

function parsed<T>(file: string, part: string, content: Buffer, isShaped: (value: Record<string, unknown>) => boolean): T {
  const value: unknown = JSON.parse(content.toString());
  if (!isObject(value) || !isShaped(value)) throw broken(file, `${part} has a value of the wrong type, or a name twice`);
  return value as T;
}

export function headerIn(file: string, content: Buffer): Header {
  const header = parsed<Header>(file, HEADER, content, isHeader);
  if (header.format !== FORMAT) throw broken(file, `its form is ${printable(header.format)}, and this version of Fitgraph knows ${FORMAT}`);
  return header;
}

export const summaryIn = (file: string, content: Buffer): Summary => parsed<Summary>(file, SUMMARY, content, isSummary);
