/**
 * A slow client: announces a large request body and sends it byte by byte until the connection
 * ends.
 */
import net from 'node:net';

const DRIP_MS = 100;

export interface Dripping {
  /** Returns the response so far. */
  answer(): string;
  isOver(): boolean;
  readonly closed: Promise<void>;
  leave(): void;
}

export function dripping(port: number): Dripping {
  const socket = net.connect(port, 'localhost');
  let answer = '';

  socket.on('data', (chunk: Buffer) => (answer += chunk.toString())).on('error', () => undefined);
  socket.write(
    'POST /api/v2/login/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{',
  );
  const drips = setInterval(() => socket.write(' '), DRIP_MS);
  const closed = new Promise<void>((resolve) =>
    socket.on('close', () => {
      clearInterval(drips);
      resolve();
    }),
  );

  return {
    answer: () => answer,
    isOver: () => socket.destroyed,
    closed,
    leave: () => void socket.destroy(),
  };
}
