/** Files that people ask for, and what a reader of CSV finds in them. */
import { parse } from 'csv-parse/sync';
import type { Person } from '../setup/person';

export interface File {
  status: number;
  headers: Headers;
  text: string;
  /** Of a refusal. */
  error?: { message: string; extensions: Record<string, any> };
  /** Of CSV: the header, then the rows. */
  records: string[][];
  /** Of JSON Lines. */
  rows: any[];
}

export type Asked = { query?: string; variables?: unknown } & Record<string, unknown>;

export const addressOf = (asked: Asked, format = 'csv'): string => {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  return `/graphql/export.${format}?${new URLSearchParams(given.map(([name, value]) => [name, text(value)])).toString()}`;
};

export async function read(response: Response): Promise<File> {
  // As it is, with the mark of its order of bytes.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer());
  const type = response.headers.get('content-type') ?? '';
  return {
    status: response.status,
    headers: response.headers,
    text,
    error: type.startsWith('application/json;') ? JSON.parse(text).errors?.[0] : undefined,
    records: type.startsWith('text/csv') ? parse(text, { bom: true, record_delimiter: '\r\n' }) : [],
    rows: type.startsWith('application/jsonl')
      ? text
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as unknown)
      : [],
  };
}

/** Of a server, with what a person is known by. */
export const files =
  (url: string) =>
  async (person: Person | undefined, asked: Asked, format = 'csv', init: RequestInit = {}): Promise<File> =>
    read(
      await fetch(url + addressOf(asked, format), {
        ...init,
        headers: { ...(person && { Authorization: `Bearer ${person.token}` }), ...(init.headers as Record<string, string>) },
      }),
    );
