/** Base URLs of links and client addresses, derived only from trusted parts of a request. */
import type { IncomingMessage } from 'node:http';
import { ConfigError } from '../../src/shared/config';
import { ForwardedHeaders } from '../../src/request/forwarded-headers';

interface TestRequest {
  peer?: string;
  encrypted?: boolean;
  headers?: Record<string, string>;
}

const origin = (trusted: string[] = [], publicUrl?: string) =>
  new ForwardedHeaders({
    trustedProxies: trusted,
    publicUrl,
    port: 8000,
    authProxyHeader: undefined,
  });

const request = ({ peer = '192.0.2.7', encrypted = false, headers = {} }: TestRequest) =>
  ({ socket: { remoteAddress: peer, encrypted }, headers }) as unknown as IncomingMessage;

const PROXY = '10.0.0.1';
const forwarded = (proto: string, host: string) => ({
  'x-forwarded-proto': proto,
  'x-forwarded-host': host,
  host: 'inner:8000',
});

describe('scheme and host of links', () => {
  it.each<[string, TestRequest, string[], string]>([
    [
      'come from the Host header',
      { headers: { host: 'fit.example:8000' } },
      [],
      'http://fit.example:8000',
    ],
    [
      'may have an IPv6 address',
      { headers: { host: '[2001:db8::1]:8000' } },
      [],
      'http://[2001:db8::1]:8000',
    ],
    [
      'are https when the connection is encrypted',
      { encrypted: true, headers: { host: 'fit.example' } },
      [],
      'https://fit.example',
    ],
    [
      'come from a trusted proxy',
      { peer: PROXY, headers: forwarded('https', 'fit.example') },
      [PROXY],
      'https://fit.example',
    ],
    [
      'come from a proxy in a trusted network',
      { peer: '10.9.9.9', headers: forwarded('https', 'fit.example') },
      ['10.0.0.0/8'],
      'https://fit.example',
    ],
    [
      'come from a trusted proxy with an IPv4-mapped address',
      { peer: '::ffff:10.0.0.1', headers: forwarded('https', 'fit.example') },
      [PROXY],
      'https://fit.example',
    ],
    [
      'come from a proxy that is trusted by an IPv4-mapped address',
      { peer: PROXY, headers: forwarded('https', 'fit.example') },
      ['::ffff:10.0.0.1'],
      'https://fit.example',
    ],
    [
      'have the scheme of a trusted proxy that sends no host',
      { peer: PROXY, headers: { 'x-forwarded-proto': 'https', host: 'a.example' } },
      [PROXY],
      'https://a.example',
    ],
    [
      'are http when a trusted proxy receives http and forwards https',
      { peer: PROXY, encrypted: true, headers: forwarded('http', 'fit.example') },
      [PROXY],
      'http://fit.example',
    ],
    [
      'do not come from an untrusted proxy',
      { headers: forwarded('https', 'evil.example') },
      [PROXY],
      'http://inner:8000',
    ],
    [
      'do not come from forwarding headers when no proxy is trusted',
      { headers: forwarded('https', 'evil.example') },
      [],
      'http://inner:8000',
    ],
    [
      'have the first protocol and the last host when a proxy lists several without addresses',
      { peer: PROXY, headers: forwarded('https, http', 'evil.example, fit.example') },
      [PROXY],
      'https://fit.example',
    ],
    [
      'come from the values that the first trusted proxy appended to those of the client',
      {
        peer: PROXY,
        headers: {
          ...forwarded('https, http, https', 'evil.example, fit.example, inner.example'),
          'x-forwarded-for': '1.1.1.1, 198.51.100.1, 10.0.0.2',
        },
      },
      ['10.0.0.0/8'],
      'http://fit.example',
    ],
    [
      'have the port of a trusted proxy',
      {
        peer: PROXY,
        headers: { ...forwarded('https', 'fit.example'), 'x-forwarded-port': '8443' },
      },
      [PROXY],
      'https://fit.example:8443',
    ],
    [
      'do not have a port that is the default one',
      { peer: PROXY, headers: { ...forwarded('https', 'fit.example'), 'x-forwarded-port': '443' } },
      [PROXY],
      'https://fit.example',
    ],
    [
      'have the port in the host rather than X-Forwarded-Port',
      {
        peer: PROXY,
        headers: { ...forwarded('https', '[2001:db8::1]:8443'), 'x-forwarded-port': '444' },
      },
      [PROXY],
      'https://[2001:db8::1]:8443',
    ],
    [
      'do not have an invalid port',
      {
        peer: PROXY,
        headers: { ...forwarded('https', '[2001:db8::1]'), 'x-forwarded-port': '99999' },
      },
      [PROXY],
      'https://[2001:db8::1]',
    ],
    [
      'do not have a port of an untrusted proxy',
      { headers: { host: 'fit.example', 'x-forwarded-port': '8443' } },
      [PROXY],
      'http://fit.example',
    ],
    [
      'come from a Forwarded header of a trusted proxy',
      {
        peer: PROXY,
        headers: {
          host: 'inner:8000',
          forwarded: 'for=198.51.100.1;proto=https;host="fit.example:8443";by=10.0.0.1',
        },
      },
      [PROXY],
      'https://fit.example:8443',
    ],
    [
      'come from the element that the first trusted proxy added to Forwarded',
      {
        peer: PROXY,
        headers: {
          host: 'inner:8000',
          forwarded:
            'for=1.1.1.1;proto=https;host=evil.example, For="198.51.100.1:4711"; Proto=HTTP ;host=fit.example,for=10.0.0.2;proto=https',
        },
      },
      ['10.0.0.0/8'],
      'http://fit.example',
    ],
    [
      'come from a Forwarded header that hides the address',
      {
        peer: PROXY,
        headers: { host: 'inner', forwarded: 'for=_hidden;proto=https;host=fit.example' },
      },
      [PROXY],
      'https://fit.example',
    ],
    [
      'do not come from Forwarded when a proxy also sends X-Forwarded headers',
      {
        peer: PROXY,
        headers: {
          ...forwarded('http', 'fit.example'),
          forwarded: 'for=1.1.1.1;proto=https;host=evil.example',
        },
      },
      [PROXY],
      'http://fit.example',
    ],
    [
      'do not come from Forwarded of an untrusted proxy',
      { headers: { host: 'fit.example', forwarded: 'proto=https;host=evil.example' } },
      [PROXY],
      'http://fit.example',
    ],
    ...[
      'proto=https;host',
      'proto=https host=evil.example',
      'proto=https;host="evil.example',
      'proto=https;proto="\\',
      `proto=https;host=evil.example;x=${'y'.repeat(5_000)}`,
      `${'for=1.1.1.1,'.repeat(2_000)}proto=https`,
    ].map((header): [string, TestRequest, string[], string] => [
      `do not come from the malformed or oversized Forwarded header ${header.slice(0, 40)}`,
      { peer: PROXY, headers: { host: 'fit.example', forwarded: header } },
      [PROXY],
      'http://fit.example',
    ]),
  ])('%s', (_name, sent, trusted, expected) =>
    expect(origin(trusted).baseUrl(request(sent))).toBe(expected),
  );

  it('are those of PUBLIC_URL even when a trusted proxy sends others', () => {
    const sent = { peer: PROXY, headers: forwarded('http', 'evil.example') };

    expect(origin([PROXY], 'https://fit.example').baseUrl(request(sent))).toBe(
      'https://fit.example',
    );
  });

  it.each([
    ['that is missing', undefined],
    ['that is empty', ''],
    ['with a path', 'evil.example/path'],
    ['with a user', 'fit.example@evil.example'],
    ['with a query', 'evil.example?x='],
    ['with a line break', 'fit.example\r\nX: y'],
    ['with markup', '"><script>'],
    ['with shell quotes', "x';rm"],
    ['with a space', 'fit.example evil.example'],
    ['with an invalid port', 'fit.example:99999'],
    ['with an invalid IPv4 address', '1.2.3.4.5'],
    ['with an incomplete IPv6 address', '[::1'],
    ['with two hosts', 'a.example, b.example'],
  ])('do not come from a Host header %s', (_name, host) => {
    const headers = host === undefined ? undefined : { host };

    expect(origin().baseUrl(request({ headers }))).toBe('http://localhost:8000');
    const viaProxy = { peer: PROXY, headers: { 'x-forwarded-host': host ?? '', host: 'inner' } };

    expect(origin([PROXY]).baseUrl(request(viaProxy))).toBe(
      host === 'a.example, b.example' ? 'http://b.example' : 'http://inner',
    );
  });
});

describe('the address of the client', () => {
  it.each<[string, string, string, string[], string]>([
    ['the address of the peer', '192.0.2.7', '', [], '192.0.2.7'],
    ['the IPv4 address of an IPv4-mapped peer', '::ffff:192.0.2.7', '', [], '192.0.2.7'],
    [
      'the address of an untrusted peer, even if it claims another',
      '192.0.2.7',
      '198.51.100.1',
      [PROXY],
      '192.0.2.7',
    ],
    ['the address before a trusted proxy', PROXY, '198.51.100.1', [PROXY], '198.51.100.1'],
    [
      'the last address before all trusted proxies',
      PROXY,
      '198.51.100.1, 10.0.0.2',
      ['10.0.0.0/8'],
      '198.51.100.1',
    ],
    [
      'not an address that the client prepended',
      PROXY,
      '1.1.1.1, 198.51.100.1',
      [PROXY],
      '198.51.100.1',
    ],
    ['an address without its port', PROXY, '198.51.100.1:4711', [PROXY], '198.51.100.1'],
    ['an IPv6 address without its port', PROXY, '[2001:db8::1]:4711', [PROXY], '2001:db8::1'],
    ['that of the proxy when it sends no address', PROXY, '', [PROXY], PROXY],
    ['that of the proxy when it sends an invalid address', PROXY, 'unknown', [PROXY], PROXY],
    ['an address with its zone', 'fe80::1%eth0', '', ['fe80::/10'], 'fe80::1%eth0'],
    ['empty when the peer is unknown', '', '', [PROXY], ''],
  ])('is %s', (_name, peer, header, trusted, expected) =>
    expect(
      origin(trusted).clientAddress(request({ peer, headers: { 'x-forwarded-for': header } })),
    ).toBe(expected),
  );
});

describe('the address of the client in a Forwarded header', () => {
  it.each<[string, string, string]>([
    ['is that before a trusted proxy', 'for=198.51.100.1', '198.51.100.1'],
    ['may have a port', 'for="198.51.100.1:4711"', '198.51.100.1'],
    ['may be IPv6', 'for="[2001:db8::1]"', '2001:db8::1'],
    ['may be IPv6 with a port', 'FOR="[2001:db8::1]:4711";proto=http', '2001:db8::1'],
    ['may contain escaped characters', 'for="198.51\\.100\\.1"', '198.51.100.1'],
    ['may have an obfuscated port', 'for="198.51.100.1:_port"', '198.51.100.1'],
    [
      'is the last one before all trusted proxies',
      'for=1.1.1.1, for=198.51.100.1,for=10.0.0.2',
      '198.51.100.1',
    ],
    ['is that of the proxy when it is unknown', 'for=unknown', PROXY],
    ['is that of the proxy when it is obfuscated', 'for=_gazonk', PROXY],
    ['is that of the last proxy that names one', 'for=1.1.1.1, for=_x, for=10.0.0.2', '10.0.0.2'],
    ['is that of the proxy without for', 'proto=https', PROXY],
    ['is that of the proxy when the header is malformed', 'for=198.51.100.1, for', PROXY],
  ])('%s', (_name, header, expected) =>
    expect(
      origin(['10.0.0.0/8']).clientAddress(
        request({ peer: PROXY, headers: { forwarded: header } }),
      ),
    ).toBe(expected),
  );

  it('is not read with X-Forwarded-For or from an untrusted peer', () => {
    const headers = { forwarded: 'for=1.1.1.1', 'x-forwarded-for': '198.51.100.1' };

    expect(origin([PROXY]).clientAddress(request({ peer: PROXY, headers }))).toBe('198.51.100.1');
    expect(origin([PROXY]).clientAddress(request({ headers }))).toBe('192.0.2.7');
  });
});

describe('the confidentiality of a connection', () => {
  const viaProxy = (proto: string) => ({
    'x-forwarded-proto': proto,
    'x-forwarded-for': '198.51.100.1',
  });

  it.each<[string, TestRequest, string[], boolean]>([
    ['is given over TLS', { encrypted: true }, [], true],
    ['is given for this host', { peer: '127.0.0.1' }, [], true],
    ['is given for this host over IPv6', { peer: '::1' }, [], true],
    ['is given for this host with an IPv4-mapped address', { peer: '::ffff:127.0.0.1' }, [], true],
    ['is not given for another host', {}, [], false],
    ['is not given for another host that claims https', { headers: viaProxy('https') }, [], false],
    [
      'is given behind a trusted proxy with https',
      { peer: PROXY, headers: viaProxy('https') },
      [PROXY],
      true,
    ],
    [
      'is not given behind a trusted proxy with http',
      { peer: PROXY, headers: viaProxy('http') },
      [PROXY],
      false,
    ],
    [
      'is not given behind a local trusted proxy with http',
      { peer: '127.0.0.1', headers: viaProxy('http') },
      ['127.0.0.1'],
      false,
    ],
  ])('%s', (_name, sent, trusted, expected) =>
    expect(origin(trusted).isEncryptedOrLocal(request(sent))).toBe(expected),
  );
});

it.each(['somewhere', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/8/8', '::/129', '10.0.0'])(
  'rejects TRUSTED_PROXIES=%s with an error that names the variable',
  (proxy) => {
    expect(() => origin([proxy])).toThrow(ConfigError);
    expect(() => origin([proxy])).toThrow(/TRUSTED_PROXIES/);
  },
);
