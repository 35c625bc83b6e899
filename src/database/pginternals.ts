/** What this program uses of pg's clients and connections that the type declarations of pg do not have. */
import type { Socket } from 'node:net';
import type { ClientBase } from 'pg';

/** A connection, which speaks PostgreSQL's protocol. */
export interface Wire {
  stream: Socket;
  /** Texts of prepared statements by their names: what the server has, and what was sent to it and is not answered yet. */
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
  parse(what: { name: string; text: string }): void;
  bind(what: { statement: string; values: unknown[] }): void;
  describe(what: { type: 'P' }): void;
  execute(): void;
  close(what: { type: 'S'; name: string }): void;
  sync(): void;
}

/** A client, with what the server told it when it connected. */
export interface WiredClient {
  host: string;
  port: number;
  /** Of the process that serves it; a pooler tells another number. */
  processID: number | null;
  secretKey: number;
  connection: Wire;
  _getActiveQuery(): object | null;
  getTransactionStatus?(): string | null;
  once(event: 'end', listener: () => void): unknown;
}

export const wired = (client: ClientBase): WiredClient => client as unknown as WiredClient;

/** Ends the connection at once, whatever it waits for. */
export const hangUp = (client: ClientBase): void => void wired(client).connection.stream.destroy();
