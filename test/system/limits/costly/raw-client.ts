/**
 * Sends requests byte by byte as a test describes them: in chunks of any size, WebSocket frames of
 * any length, by clients that leave at any moment.
 */
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Answer {
  /** 0 if there was none. */
  status: number;

  /** The begin of the body. */
  text: string;
  bytes: number;
}

export interface HttpRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: Buffer;

  /** Sizes of the pieces in which the body is written; by default in one. */
  pieceBytes?: number;
  isChunked?: boolean;
}

const MAX_TEXT_CHARACTERS = 4_000;

/** Clients leave after this time, so that exports and subscriptions end. */
const PATIENCE_MS = 5_000;

/**
 * Pieces that are written before the client waits a moment, so that they arrive in different
 * packets.
 */
const PIECES_AT_ONCE = 200;

function connect(base: string): net.Socket {
  const { hostname, port } = new URL(base);

  return net.connect(Number(port), hostname).setNoDelay();
}

function* piecesOf(data: Buffer, pieceBytes: number): Generator<Buffer> {
  for (let start = 0; start < data.length; start += pieceBytes) {
    yield data.subarray(start, start + pieceBytes);
  }
}

async function writePieces(socket: net.Socket, pieces: Iterable<Buffer>): Promise<void> {
  let count = 0;

  for (const piece of pieces) {
    if (!socket.writable) return;
    socket.write(piece);
    count += 1;
    if (count % PIECES_AT_ONCE === 0) await sleep(1);
  }
}

const chunkOf = (piece: Buffer) =>
  Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);

/** Reads until the server or the client closes the connection. */
async function readAnswer(socket: net.Socket, leaveAfterMs: number): Promise<Answer> {
  let text = '';
  let bytes = 0;
  const timer = setTimeout(() => socket.destroy(), leaveAfterMs);

  socket.on('data', (data: Buffer) => {
    bytes += data.length;
    if (text.length < MAX_TEXT_CHARACTERS) text += data.toString('latin1');
  });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
  clearTimeout(timer);

  const headEnd = text.indexOf('\r\n\r\n');

  return {
    status: Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 0),
    text: text.slice(headEnd + 4, MAX_TEXT_CHARACTERS),
    bytes,
  };
}

/** Sends a request on a connection of its own. The client leaves after `leaveAfterMs`. */
export async function sendHttp(
  base: string,
  request: HttpRequest,
  leaveAfterMs = PATIENCE_MS,
): Promise<Answer> {
  const { method, path, headers, body, isChunked = false } = request;
  const pieceBytes = request.pieceBytes ?? body?.length ?? 1;
  const socket = connect(base);
  const answer = readAnswer(socket, leaveAfterMs);
  const length = isChunked
    ? { 'Transfer-Encoding': 'chunked' }
    : { 'Content-Length': String(body?.length ?? 0) };
  const lines = Object.entries({
    Host: 'localhost',
    Connection: 'close',
    ...headers,
    ...(body && length),
  });

  socket.write(
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    'latin1',
  );

  if (body) {
    const pieces = [...piecesOf(body, pieceBytes)];

    await writePieces(
      socket,
      isChunked ? [...pieces.map(chunkOf), Buffer.from('0\r\n\r\n')] : pieces,
    );
  }

  return answer;
}

const TEXT_FRAME = 1;
const CONTINUATION_FRAME = 0;

export const PING_FRAME = 9;
const MASK_BIT = 0x80;
const FIN_BIT = 0x80;

/** A masking key of zeros leaves the payload as it is. */
const MASKING_KEY = Buffer.alloc(4);

/** Encodes a frame of a client (https://datatracker.ietf.org/doc/html/rfc6455#section-5.2). */
export function frameOf(opcode: number, isFinal: boolean, payload: Buffer): Buffer {
  const first = (isFinal ? FIN_BIT : 0) | opcode;
  const { length } = payload;

  if (length < 126) {
    return Buffer.concat([Buffer.from([first, MASK_BIT | length]), MASKING_KEY, payload]);
  }

  if (length < 65_536) {
    const header = Buffer.from([first, MASK_BIT | 126, 0, 0]);

    header.writeUInt16BE(length, 2);
    return Buffer.concat([header, MASKING_KEY, payload]);
  }

  const header = Buffer.from([first, MASK_BIT | 127, 0, 0, 0, 0, 0, 0, 0, 0]);

  header.writeUInt32BE(length, 6);
  return Buffer.concat([header, MASKING_KEY, payload]);
}

/** Encodes a text message as frames of at most `frameBytes`. */
export function framesOf(text: string, frameBytes: number): Buffer[] {
  const pieces = [...piecesOf(Buffer.from(text), frameBytes)];

  return pieces.map((piece, index) =>
    frameOf(index === 0 ? TEXT_FRAME : CONTINUATION_FRAME, index === pieces.length - 1, piece),
  );
}

const CONNECTION_INIT = '{"type":"connection_init"}';

export interface WebSocketSession {
  headers: Record<string, string>;
  frames: readonly Buffer[];

  /** Size of the pieces in which all frames together are written. */
  pieceBytes: number;
}

/**
 * Opens a WebSocket, waits until the server accepts messages, writes the frames, and reads until
 * the client leaves or the server closes the connection.
 */
export async function sendWebSocket(
  base: string,
  session: WebSocketSession,
  leaveAfterMs: number,
): Promise<Answer> {
  const socket = connect(base);
  const answer = readAnswer(socket, leaveAfterMs);
  const nextData = () =>
    Promise.race([new Promise((resolve) => socket.once('data', resolve)), answer]);
  const headers = {
    Host: 'localhost',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'Sec-WebSocket-Protocol': 'graphql-transport-ws',
    ...session.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);

  socket.write(`GET /graphql HTTP/1.1\r\n${lines.join('')}\r\n`);
  await nextData();
  await writePieces(socket, framesOf(CONNECTION_INIT, CONNECTION_INIT.length));
  await nextData();
  await writePieces(socket, piecesOf(Buffer.concat(session.frames), session.pieceBytes));
  return answer;
}
