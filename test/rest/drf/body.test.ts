/** Request bodies: parsing, validation and errors. */
import http from 'node:http';
import iconv from 'iconv-lite';
import { Orchard } from '../fruit-service';

const orchard = new Orchard();

beforeAll(() => orchard.open());
afterAll(() => orchard.close());
beforeEach(() => {
  orchard.fruits = [{ id: 1, fullName: 'Cherry', pieces: 2, peeled: true }];
});

const send = (method: string, body: unknown, type = 'application/json', path = '/api/v2/fruit/') =>
  orchard.anonymous.withHeaders({ 'Content-Type': type }).send(method, path, body);

interface Received {
  status: number;
  text: string;

  /** Local port of the connection, which shows whether a connection was reused. */
  localPort: number;
}

/**
 * Sends JSON with node:http, which can send a single piece with `Content-Length` and several pieces
 * chunked.
 */
function sendPieces(
  agent: http.Agent,
  method: string,
  path: string,
  pieces: readonly string[],
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const length =
      pieces.length === 1
        ? { 'Content-Length': Buffer.byteLength(pieces[0]!) }
        : { 'Transfer-Encoding': 'chunked' };
    const headers = { 'Content-Type': 'application/json', ...(pieces.length > 0 && length) };
    const request = http.request(
      `${orchard.url}${path}`,
      { method, agent, headers },
      async (response) => {
        const { localPort } = response.socket;
        let text = '';

        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode!, text, localPort: localPort! });
      },
    );

    request.on('error', reject);
    for (const piece of pieces) request.write(piece);
    request.end();
  });
}

const form = (method: string, values: Record<string, string>, path?: string) =>
  send(method, new URLSearchParams(values).toString(), 'application/x-www-form-urlencoded', path);

test('returns 201 with the created row and without Location', async () => {
  const answer = await send('POST', { full_name: ' Apple ', pieces: '3', id: 77, unknown: 'x' });

  expect(answer).toMatchObject({
    status: 201,
    body: { id: 2, full_name: 'Apple', pieces: 3, peeled: false },
  });
  expect(answer.headers.get('location')).toBeNull();
});

test('requires required fields in PUT but not in PATCH, and keeps omitted fields', async () => {
  const put = (body: unknown) => send('PUT', body, undefined, '/api/v2/fruit/1/');

  expect((await put({})).body).toEqual({ full_name: ['This field is required.'] });
  expect((await put({ full_name: 'Plum' })).body).toEqual({
    id: 1,
    full_name: 'Plum',
    pieces: 2,
    peeled: true,
  });
  const patch = (body: unknown) => send('PATCH', body, undefined, '/api/v2/fruit/1/');

  expect(await patch({})).toMatchObject({ status: 200, body: { full_name: 'Plum' } });
  expect((await patch({ pieces: null })).body).toMatchObject({ full_name: 'Plum', pieces: null });
  expect((await send('PATCH', {}, undefined, '/api/v2/fruit/9/')).status).toBe(404);
});

test('returns 204 without a body for DELETE, and 404 when it is repeated', async () => {
  const gone = await orchard.anonymous.delete('/fruit/1/');

  expect([
    gone.status,
    gone.text,
    gone.headers.get('content-type'),
    gone.headers.get('content-length'),
  ]).toEqual([204, '', null, '0']);
  expect((await orchard.anonymous.delete('/fruit/1/')).status).toBe(404);
});

test('returns all validation errors at once, in the order of the fields', async () => {
  const answer = await send('POST', { peeled: 'perhaps', pieces: 10, full_name: 'x'.repeat(11) });

  expect(answer.status).toBe(400);
  expect(answer.text).toBe(
    '{"full_name":["Ensure this field has no more than 10 characters."],"pieces":["Ensure this value is less than or equal to 9."],"peeled":["Must be a valid boolean."]}',
  );
  expect(orchard.fruits).toHaveLength(1);
});

test('returns errors of the mutation under the keys of the fields', async () => {
  expect((await send('POST', { full_name: 'Kiwi' })).status).toBe(201);
  const again = await send('POST', { full_name: 'Kiwi' });

  expect([again.status, again.text]).toEqual([400, '{"full_name":["There is one of this name."]}']);
});

describe('a JSON body', () => {
  test.each([
    '{',
    '{"full_name": }',
    '{"full_name": NaN}',
    '[1',
    'nonsense',
    '\ufeff{}',
    "{'full_name': 1}",
  ])('is rejected with a parse error: %j', async (body) => {
    const answer = await send('POST', body);

    expect([answer.status, answer.body.detail]).toEqual([
      400,
      expect.stringMatching(/^JSON parse error/),
    ]);
  });

  test('is rejected when it is not UTF-8, unless it declares its charset', async () => {
    const answer = await send('POST', Buffer.from('{"full_name": "\xff"}', 'latin1'));

    expect([answer.status, answer.body.detail]).toEqual([
      400,
      expect.stringMatching(/^JSON parse error/),
    ]);
    const latin = await send(
      'POST',
      Buffer.from('{"full_name": "\xe4"}', 'latin1'),
      'application/json; charset=latin-1',
    );

    expect(latin.body.full_name).toBe('ä');
  });

  test.each(['utf-16', 'utf-32'])('in %s has a byte order mark', async (charset) => {
    const type = `application/json; charset=${charset}`;
    const encode = (text: string) => iconv.encode(text, `${charset}le`);

    expect((await send('POST', encode('\ufeff{"full_name": "ä"}'), type)).body.full_name).toBe('ä');
    expect(await send('POST', encode('{"full_name": "ö"}'), type)).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/^JSON parse error - .* byte order mark/) },
    });
  });

  test('is rejected when its bytes are invalid in the declared charset', async () => {
    for (const charset of ['ascii', 'us-ascii', 'windows-1257']) {
      const type = `application/json; charset=${charset}`;
      const answer = await send('POST', latin1('{"full_name": "\xff\x81\xa1"}'), type);

      expect([answer.status, answer.body.detail]).toEqual([
        400,
        expect.stringMatching(/^JSON parse error - .*invalid/),
      ]);
    }
  });

  test.each([
    [[], 'Invalid data. Expected a dictionary, but got list.'],
    ['"text"', 'Invalid data. Expected a dictionary, but got str.'],
    [1, 'Invalid data. Expected a dictionary, but got int.'],
    [1.5, 'Invalid data. Expected a dictionary, but got float.'],
    [true, 'Invalid data. Expected a dictionary, but got bool.'],
    ['null', 'No data provided'],
  ])('is rejected when it is %j instead of an object', async (body, message) => {
    expect(await send('POST', body)).toMatchObject({
      status: 400,
      body: { non_field_errors: [message] },
    });
  });

  test('is treated as an empty object when it is empty, and uses the last of two equal keys', async () => {
    expect((await send('POST', '')).body).toEqual({ full_name: ['This field is required.'] });
    expect((await send('POST', '{"full_name": "one", "full_name": "two"}')).body.full_name).toBe(
      'two',
    );
  });

  test('does not set values by the key __proto__', async () => {
    expect((await send('POST', '{"__proto__": {"full_name": "x"}}')).body).toEqual({
      full_name: ['This field is required.'],
    });
  });
});

describe('a form body', () => {
  test('has an empty value for null and no value for false', async () => {
    expect((await form('POST', { full_name: 'Fig', pieces: '' })).body).toEqual({
      id: 2,
      full_name: 'Fig',
      pieces: null,
      peeled: false,
    });
    expect((await form('PUT', { full_name: 'Fig' }, '/api/v2/fruit/1/')).body).toMatchObject({
      pieces: 2,
      peeled: false,
    });
    expect((await form('PATCH', { full_name: 'Date' }, '/api/v2/fruit/2/')).body).toMatchObject({
      full_name: 'Date',
    });
    expect((await form('POST', {})).body).toEqual({ full_name: ['This field is required.'] });
    expect((await form('POST', { full_name: '' })).body).toEqual({
      full_name: ['This field may not be blank.'],
    });
  });

  test('may be multipart, but not without a boundary', async () => {
    const parts = new FormData();

    parts.set('full_name', 'Kiwi');
    parts.set('peeled', 'on');
    expect((await orchard.anonymous.send('POST', '/api/v2/fruit/', parts)).body).toMatchObject({
      full_name: 'Kiwi',
      peeled: true,
    });
    const boundless = await send('POST', 'x', 'multipart/form-data');

    expect(boundless).toMatchObject({
      status: 400,
      body: { detail: 'Multipart form parse error - Invalid boundary in multipart: None' },
    });
  });
});

const FORM = 'application/x-www-form-urlencoded';
const latin1 = (text: string) => Buffer.from(text, 'latin1');

describe('the text of a form', () => {
  test.each([
    ['', 'full_name=h%C3%A9llo', 'héllo'],
    ['', 'full_name=h\xc3\xa9llo', 'héllo'],
    ['', 'full_name=h\xe9llo', 'héllo'],
    ['', 'full_name=a+b%2B%26', 'a b+&'],
    ['', 'full_name=100%&peeled=1', '100%'],
    ['', 'full_name=%zz%4', '%zz%4'],
    ['', 'full_name=a=b', 'a=b'],
    ['', 'full_name=%EF%BF%BD', '\uFFFD'],
    ['; charset=iso-8859-1', 'full_name=h%E9llo', 'héllo'],
    ['; charset=iso-8859-1', 'full_name=h\xe9llo', 'héllo'],
    ['; charset=iso-8859-1', 'full_name=%C3%A9', 'Ã©'],
    ['; charset=windows-1252', 'full_name=%80', '€'],
    ['; charset=koi8-r', 'full_name=%D6', 'ж'],
    ['; charset=utf-8; charset=latin-1', 'full_name=%E9', 'é'],
  ])('is decoded by the charset (%j): %j', async (parameters, text, name) => {
    const { status, body } = await send('POST', latin1(text), FORM + parameters);

    expect([status, body.full_name]).toEqual([201, name]);
  });

  test.each([
    ['', 'full_name=h%E9llo'],
    ['; charset=utf-8', 'full_name=%FF'],
    ['; charset=ascii', 'full_name=h\xe9'],
    ['; charset=ascii', 'full_name=%FF'],
    ['; charset=windows-1252', 'full_name=%81'],
  ])('is rejected when bytes are invalid in the charset (%j): %j', async (parameters, text) => {
    expect(await send('POST', latin1(text), FORM + parameters)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('The form field "full_name" contains bytes') },
    });
    expect(orchard.fruits).toHaveLength(1);
  });
});

describe('a part of a multipart form', () => {
  const MULTIPART = 'multipart/form-data; boundary=b';
  const part = (headers: readonly string[], content: string) =>
    `--b\r\nContent-Disposition: form-data; name="full_name"\r\n${headers.map((header) => `${header}\r\n`).join('')}\r\n${content}\r\n`;
  const post = (parameters: string, text: string) =>
    send('POST', latin1(text), MULTIPART + parameters);
  const BASE64 = 'Content-Transfer-Encoding: base64';

  test.each([
    ['', [], 'h\xc3\xa9llo', 'héllo'],
    ['; charset=iso-8859-1', [], 'h\xe9llo', 'héllo'],
    ['; charset=latin-1', [], 'h\xe9llo', 'héllo'],
    ['; charset=windows-1252', [], '\x80', '€'],
    ['; charset=koi8-r', [], '\xd6', 'ж'],
    ['; charset=koi8-r', ['Content-Type: text/plain; charset=utf-8'], '\xe2\x82\xac', '€'],
    ['; charset=koi8-r', ['Content-Type: text/plain; charset=utf-8'], '\xc3\xa9', 'é'],
    ['; charset=koi8-r', ['Content-Type: text/plain; charset=iso-8859-1'], '\xe9', 'é'],
    ['; charset=koi8-r', ['Content-Type: application/octet-stream'], '\xd6', 'ж'],
    ['', ['Content-Type: text/plain; charset=iso-8859-1'], 'h\xe9llo', 'héllo'],
    ['', ['Content-Type: text/plain; charset=utf-8'], 'h\xc3\xa9llo', 'héllo'],
    ['', ['Content-Type: application/octet-stream'], 'h\xc3\xa9llo', 'héllo'],
    ['', [BASE64], 'aMOpbGxv', 'héllo'],
    ['', ['content-transfer-encoding: BASE64'], 'aMOp\r\nbGxv', 'héllo'],
    ['; charset=iso-8859-1', [BASE64], '6Q==', 'é'],
    ['', [BASE64, 'Content-Type: application/octet-stream'], 'aMOpbGxv', 'héllo'],
    ['', ['Content-Transfer-Encoding: 8bit'], 'h\xc3\xa9llo', 'héllo'],
    ['', ['Content-Transfer-Encoding: binary'], 'hello', 'hello'],
  ])('is decoded by its headers (%j, %j): %j', async (parameters, headers, content, name) => {
    const { status, body } = await post(parameters, `${part(headers, content)}--b--\r\n`);

    expect([status, body.full_name]).toEqual([201, name]);
  });

  test('is decoded in the charset of the form after parts that have their own, or no name', async () => {
    const own = part(['Content-Type: text/plain; charset=utf-8'], '\xc3\xa9');
    const nameless = part([], '\xd6').replace('; name="full_name"', '');
    const decoded = async (...parts: string[]) =>
      (await post('; charset=koi8-r', `${parts.join('')}--b--\r\n`)).body.full_name;

    // The last of several parts with a name counts.
    expect(await decoded(own, part([], '\xd6'))).toBe('ж');
    expect(await decoded(part([], '\xd6'), nameless, own)).toBe('é');
  });

  test.each([
    ['', [], 'h\xe9llo', 'contains bytes that are invalid in its charset'],
    ['', ['Content-Type: application/octet-stream'], '\xe9', 'contains bytes that are invalid'],
    ['; charset=ascii', ['Content-Type: text/plain; charset=utf-8'], '\xe9', 'contains bytes'],
    ['', [BASE64], 'aMOp*GxvA', 'Part \\"full_name\\" is not valid base64'],
    ['', [BASE64], '6Q==', 'contains bytes that are invalid in its charset'],
    ['', ['Content-Transfer-Encoding: quoted-printable'], 'h=E9llo', 'Content-Transfer-Encoding'],
    ['', ['no colon'], 'x', 'malformed headers'],
    ['; charset=windows-1252', [], '\x81', 'contains bytes that are invalid in its charset'],
    ['', ['Content-Type: text/plain; charset=x'], '\xd6', 'The charset of part \\"full_name\\"'],
  ])('is rejected when its text would change (%j, %j): %j', async (...row) => {
    const [parameters, headers, content, message] = row;
    const { status, text } = await post(parameters, `${part(headers, content)}--b--\r\n`);

    expect([status, text]).toEqual([400, expect.stringContaining(message)]);
    expect(orchard.fruits).toHaveLength(1);
  });

  test.each([
    ['no closing boundary', (text: string) => text],
    ['no closing boundary and no line break', (text: string) => text.trimEnd()],
    ['a closing boundary without dashes', (text: string) => `${text}--b`],
    ['a closing boundary without dashes and a line break', (text: string) => `${text}--b\r\n`],
    ['a closing boundary without a line break', (text: string) => `${text}--b--`],
    ['text around the parts', (text: string) => `preamble\r\n${text}--b--\r\nepilogue`],
  ])('is the last one with %s', async (_what, close) => {
    const { status, body } = await post('', close(part([], 'Apple')));

    expect([status, body.full_name]).toEqual([201, 'Apple']);
  });

  test('is ignored when its headers are incomplete', async () => {
    expect(
      (await post('', '--b\r\nContent-Disposition: form-data; name="full_name"')).body,
    ).toEqual({ full_name: ['This field is required.'] });
  });
});

test.each(['text/plain', 'application/xml', 'application/vnd.api+json'])(
  'rejects a body of type %s with 415',
  async (type) => {
    expect(await send('POST', 'x', type)).toMatchObject({
      status: 415,
      body: { detail: `Unsupported media type "${type}" in request.` },
    });
  },
);

describe('a body over the limit', () => {
  const TOO_LARGE = { status: 413, body: { detail: 'Request body too large.' } };

  test('is rejected with 413 for JSON and for forms', async () => {
    expect(await send('POST', { full_name: 'x'.repeat(1000) })).toMatchObject(TOO_LARGE);
    expect(
      await send('POST', `full_name=${'x'.repeat(1000)}`, 'application/x-www-form-urlencoded'),
    ).toMatchObject(TOO_LARGE);
    expect((await send('POST', { full_name: 'x'.repeat(900) })).status).toBe(400);
  });

  test('is rejected with 413 when it is chunked, and so has no Content-Length', async () => {
    const agent = new http.Agent();
    const [start, end] = ['{"full_name": "', '"}'];
    const sendLength = (length: number) =>
      sendPieces(agent, 'POST', '/api/v2/fruit/', [
        start,
        ...Array.from({ length: length / 100 }, () => 'x'.repeat(100)),
        end,
      ]);
    const large = await sendLength(1_000);

    expect([large.status, JSON.parse(large.text)]).toEqual([413, TOO_LARGE.body]);
    const small = await sendLength(900);

    expect([small.status, small.text]).toEqual([
      400,
      expect.stringContaining('no more than 10 characters'),
    ]);
  });

  test('leaves the connection usable', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

    try {
      const ports = new Set<number>();

      for (let times = 0; times < 3; times += 1) {
        const rejected = await sendPieces(agent, 'POST', '/api/v2/fruit/', ['x'.repeat(100_000)]);
        const read = await sendPieces(agent, 'GET', '/api/v2/fruit/1/', []);

        expect([rejected.status, read.status, JSON.parse(read.text).full_name]).toEqual([
          413,
          200,
          'Cherry',
        ]);
        ports.add(rejected.localPort).add(read.localPort);
      }

      expect(ports.size).toBe(1);
    } finally {
      agent.destroy();
    }
  });
});
