/** Members of pg's clients and connections that its type declarations lack. */
import type { Socket } from 'node:net';
import type { ClientBase } from 'pg';

/** pg's connection: PostgreSQL's wire protocol. */
export interface Wire {
  stream: Socket;
  /** Texts of prepared statements by name: confirmed ones, and ones whose ParseComplete is pending. */
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
  parse(what: { name: string; text: string }): void;
  bind(what: { statement: string; values: unknown[] }): void;
  describe(what: { type: 'P' }): void;
  execute(): void;
  close(what: { type: 'S'; name: string }): void;
  sync(): void;
}

/** pg's client with the backend key data of its connection. */
export interface WiredClient {
  host: string;
  port: number;
  /** Process id of the backend; a pooler reports a different one. */
  processID: number | null;
  secretKey: number;
  connection: Wire;
  _getActiveQuery(): object | null;
  getTransactionStatus?(): string | null;
  once(event: 'end', listener: () => void): unknown;
}

export const wireClient = (client: ClientBase): WiredClient => client as unknown as WiredClient;

/** Closes the connection immediately, without waiting for pending queries. */
export const destroyConnection = (client: ClientBase): void => void wireClient(client).connection.stream.destroy();
