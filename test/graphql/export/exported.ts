/** Requests exports and parses the files. */
import { parse } from 'csv-parse/sync';
import type { Person } from '../../setup/person';

export interface File {
  status: number;
  headers: Headers;
  text: string;

  /** The first error of a rejected request. */
  error?: { message: string; path?: string[]; extensions: Record<string, any> };

  /** The header and the rows of a CSV file. */
  records: string[][];

  /** The parsed rows of a JSON Lines file. */
  rows: any[];
}

export type ExportRequest = { query?: string; variables?: unknown } & Record<string, unknown>;

export const exportPath = (parameters: ExportRequest, format = 'csv'): string => {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  const definedParameters = Object.entries(parameters).filter(([, value]) => value !== undefined);

  return `/graphql/export.${format}?${new URLSearchParams(definedParameters.map(([name, value]) => [name, text(value)])).toString()}`;
};

export async function readFile(response: Response, delimiter = ','): Promise<File> {
  // `ignoreBOM: true` keeps the byte order mark in the text.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer());
  const type = response.headers.get('content-type') ?? '';

  return {
    status: response.status,
    headers: response.headers,
    text,
    error: type.startsWith('application/json;') ? JSON.parse(text).errors?.[0] : undefined,
    records: type.startsWith('text/csv')
      ? parse(text, { bom: true, delimiter, record_delimiter: '\r\n' })
      : [],
    rows: type.startsWith('application/jsonl')
      ? text
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as unknown)
      : [],
  };
}

/** Returns a function that requests exports of a server with the token of a person. */
export const exporterOf =
  (url: string) =>
  async (
    person: Person | undefined,
    parameters: ExportRequest,
    format = 'csv',
    init: RequestInit = {},
  ): Promise<File> =>
    readFile(
      await fetch(url + exportPath(parameters, format), {
        ...init,
        headers: {
          ...(person && { Authorization: `Bearer ${person.token}` }),
          ...(init.headers as Record<string, string>),
        },
      }),
      parameters.delimiter === ';' ? ';' : ',',
    );
