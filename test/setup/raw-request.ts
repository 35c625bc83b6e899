/** Sends raw requests, because HTTP clients correct or reject malformed ones. */
import { connect } from 'node:net';

export interface RawAnswer {
  status: number;
  head: string;
  body: string;
}

/** Sends the request line and headers unchanged, with a Host header unless one is given. */
export function sendRaw(
  url: string,
  line: string,
  headers: readonly string[] = [],
): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(url);
  const named = headers.some((header) => /^host:/i.test(header)) ? [] : [`Host: ${host}`];

  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        [`${line} HTTP/1.1`, ...named, 'Connection: close', ...headers, '', ''].join('\r\n'),
        'latin1',
      );
    });
    const chunks: Buffer[] = [];

    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      const text = Buffer.concat(chunks).toString('latin1');
      const end = text.indexOf('\r\n\r\n');

      resolve({
        status: Number(text.slice(9, 12)),
        head: text.slice(0, end),
        body: text.slice(end + 4),
      });
    });
  });
}
