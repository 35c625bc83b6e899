/** Base URLs of links and client addresses, derived only from trusted parts of a request. */
import type { IncomingMessage } from 'node:http';
import { ConfigError } from '../../src/platform/config';
import { ForwardedHeaders } from '../../src/request/forwardedheaders';

interface TestRequest {
  peer?: string;
  encrypted?: boolean;
  headers?: Record<string, string>;
}

const origin = (trusted: string[] = [], publicUrl?: string) =>
  new ForwardedHeaders({ trustedProxies: trusted, publicUrl, port: 8000 });

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
      'come from the last values when a trusted proxy appends to those of the client',
      { peer: PROXY, headers: forwarded('http, https', 'evil.example, fit.example') },
      [PROXY],
      'https://fit.example',
    ],
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
