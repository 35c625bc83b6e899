// Encodes and sends the request of a case. It uses `node:http` instead of `fetch`, because cases
// set the Host header, send GET with a body, empty header values and TRACE, and must not follow
// redirects.

const http = require('node:http');
const https = require('node:https');

const TIMEOUT_MS = 60_000;

class Client {
  constructor(base, connections) {
    this.base = base.replace(/\/+$/, '');
    this.url = new URL(this.base);
    this.transport = this.url.protocol === 'https:' ? https : http;
    this.agent = new this.transport.Agent({ keepAlive: true, maxSockets: connections });
  }

  close() {
    this.agent.destroy();
  }

  /**
   * Resolves to { path, status, headers, text }, where the path contains the ids of this server.
   * Rejects only if there is no response.
   */
  send(request, ids) {
    const body = encodeBody(request, ids);
    const headers = { ...request.headers };

    if (body !== null || ['POST', 'PUT', 'PATCH'].includes(request.method)) {
      headers['Content-Length'] = body?.length ?? 0;
    }

    const options = {
      agent: request.method === 'HEAD' ? false : this.agent,
      host: this.url.hostname,
      port: this.url.port,
      method: request.method,
      path: ids.fillText(request.path),
      headers,
    };

    return this.#exchange(options, body).catch((error) => {
      // The server closed the idle connection before it received the request, so the request is
      // sent once more.
      if (error.code === 'ECONNRESET' && error.reusedSocket) return this.#exchange(options, body);
      throw error;
    });
  }

  #exchange(options, body) {
    return new Promise((resolve, reject) => {
      const request = this.transport.request(options, (response) => {
        const { statusCode: status, headers } = response;

        // A response to HEAD is complete after the headers; some servers send a body nevertheless.
        if (options.method === 'HEAD') {
          return resolve({ path: options.path, status, headers, text: '' });
        }

        const chunks = [];

        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            path: options.path,
            status,
            headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      });

      request.setTimeout(TIMEOUT_MS, () =>
        request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)),
      );
      request.on('error', (error) =>
        reject(Object.assign(error, { reusedSocket: request.reusedSocket })),
      );
      request.end(body ?? undefined);
    });
  }
}

function encodeBody({ body, form, multipart, raw, headers }, ids) {
  if (body !== undefined) return Buffer.from(JSON.stringify(expand(ids.fill(body))));

  if (form) {
    return Buffer.from(
      new URLSearchParams(form.map(([name, value]) => [name, expand(value)])).toString(),
    );
  }

  if (multipart) {
    return encodeMultipart(multipart, /boundary=(\S+)/.exec(headers['Content-Type'])[1]);
  }

  if (raw) {
    return raw.base64 === undefined ? Buffer.from(raw.text) : Buffer.from(raw.base64, 'base64');
  }

  return null;
}

function encodeMultipart({ fields, files }, boundary) {
  const parts = fields.map(([name, value]) =>
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    ),
  );

  for (const { field, filename, contentType, base64, padTo } of files) {
    const content = Buffer.from(base64, 'base64');
    const padding = Buffer.alloc(Math.max(0, (padTo ?? 0) - content.length));
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="${filename}"\r\nContent-Type: ${contentType}\r\n\r\n`;

    parts.push(Buffer.from(head), content, padding, Buffer.from('\r\n'));
  }

  return Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
}

/** Expands `{"$repeat": ["x", 3000000]}` to a long text. It keeps the case files small. */
function expand(value) {
  if (Array.isArray(value)) return value.map(expand);
  if (value === null || typeof value !== 'object') return value;
  if (value.$repeat) return value.$repeat[0].repeat(value.$repeat[1]);

  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expand(item)]));
}

module.exports = { Client };
