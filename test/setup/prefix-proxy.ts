/** A reverse proxy that serves a server below a path and removes the path from requests. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PrefixProxy {
  /** URL of the path, without a slash at the end. */
  url: string;
  forwardTo(serverUrl: string): void;
  close(): void;
}

export async function startPrefixProxy(prefix: string): Promise<PrefixProxy> {
  let serverUrl: string | undefined;

  const proxy = http.createServer((request, response) => {
    const url = request.url!;

    if (!url.startsWith(`${prefix}/`)) {
      return void response.writeHead(404).end('outside the prefix');
    }

    const { method, headers } = request;

    const forwarded = http.request(
      serverUrl + url.slice(prefix.length),
      { method, headers, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.rawHeaders);
        answer.pipe(response);
      },
    );

    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });

  await new Promise<void>((resolve) => proxy.listen(0, 'localhost', resolve));

  return {
    url: `http://localhost:${(proxy.address() as AddressInfo).port}${prefix}`,
    forwardTo: (url) => (serverUrl = url),
    close() {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}
