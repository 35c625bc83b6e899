/** Links and addresses: what is believed of a request, and what an attacker may write into it. */
import type { IncomingMessage } from 'node:http';
import { ConfigError } from '../../src/platform/config';
import { ClientOrigin } from '../../src/request/clientorigin';

interface Sent {
  peer?: string;
  encrypted?: boolean;
  headers?: Record<string, string>;
}

const origin = (trusted: string[] = [], publicUrl?: string) => new ClientOrigin({ trustedProxies: trusted, publicUrl, port: 8000 });

const request = ({ peer = '192.0.2.7', encrypted = false, headers = {} }: Sent) =>
  ({ socket: { remoteAddress: peer, encrypted }, headers }) as unknown as IncomingMessage;

const PROXY = '10.0.0.1';
const forwarded = (proto: string, host: string) => ({ 'x-forwarded-proto': proto, 'x-forwarded-host': host, host: 'inner:8000' });

describe('scheme and host of links', () => {
  it.each<[string, Sent, string[], string]>([
    ['the Host header', { headers: { host: 'fit.example:8000' } }, [], 'http://fit.example:8000'],
    ['an address', { headers: { host: '[2001:db8::1]:8000' } }, [], 'http://[2001:db8::1]:8000'],
    ['https by itself', { encrypted: true, headers: { host: 'fit.example' } }, [], 'https://fit.example'],
    ['a trusted proxy', { peer: PROXY, headers: forwarded('https', 'fit.example') }, [PROXY], 'https://fit.example'],
    ['a trusted network', { peer: '10.9.9.9', headers: forwarded('https', 'fit.example') }, ['10.0.0.0/8'], 'https://fit.example'],
    ['a mapped peer', { peer: '::ffff:10.0.0.1', headers: forwarded('https', 'fit.example') }, [PROXY], 'https://fit.example'],
    ['a mapped setting', { peer: PROXY, headers: forwarded('https', 'fit.example') }, ['::ffff:10.0.0.1'], 'https://fit.example'],
    [
      'a proxy that tells the scheme only',
      { peer: PROXY, headers: { 'x-forwarded-proto': 'https', host: 'a.example' } },
      [PROXY],
      'https://a.example',
    ],
    ['http in front of https', { peer: PROXY, encrypted: true, headers: forwarded('http', 'fit.example') }, [PROXY], 'http://fit.example'],
    ['a proxy that is not trusted', { headers: forwarded('https', 'evil.example') }, [PROXY], 'http://inner:8000'],
    ['no proxy at all', { headers: forwarded('https', 'evil.example') }, [], 'http://inner:8000'],
    [
      'what the client sent through a proxy that appends',
      { peer: PROXY, headers: forwarded('http, https', 'evil.example, fit.example') },
      [PROXY],
      'https://fit.example',
    ],
  ])('%s', (_name, sent, trusted, expected) => expect(origin(trusted).baseUrl(request(sent))).toBe(expected));

  it('are those of PUBLIC_URL, whatever else is sent', () => {
    const sent = { peer: PROXY, headers: forwarded('http', 'evil.example') };
    expect(origin([PROXY], 'https://fit.example').baseUrl(request(sent))).toBe('https://fit.example');
  });

  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['with a path', 'evil.example/path'],
    ['with a user', 'fit.example@evil.example'],
    ['with a query', 'evil.example?x='],
    ['with a line break', 'fit.example\r\nX: y'],
    ['with markup', '"><script>'],
    ['with quotes of a shell', "x';rm"],
    ['with a blank', 'fit.example evil.example'],
    ['with a port that does not exist', 'fit.example:99999'],
    ['of no address', '1.2.3.4.5'],
    ['of half an address', '[::1'],
    ['twice', 'a.example, b.example'],
  ])('a Host header %s is not in links', (_name, host) => {
    const headers = host === undefined ? undefined : { host };
    expect(origin().baseUrl(request({ headers }))).toBe('http://localhost:8000');
    const viaProxy = { peer: PROXY, headers: { 'x-forwarded-host': host ?? '', host: 'inner' } };
    expect(origin([PROXY]).baseUrl(request(viaProxy))).toBe(host === 'a.example, b.example' ? 'http://b.example' : 'http://inner');
  });
});

describe('the address of the client', () => {
  it.each<[string, string, string, string[], string]>([
    ['the peer', '192.0.2.7', '', [], '192.0.2.7'],
    ['the peer, unmapped', '::ffff:192.0.2.7', '', [], '192.0.2.7'],
    ['the peer, whatever it claims', '192.0.2.7', '198.51.100.1', [PROXY], '192.0.2.7'],
    ['before the proxy', PROXY, '198.51.100.1', [PROXY], '198.51.100.1'],
    ['before all proxies', PROXY, '198.51.100.1, 10.0.0.2', ['10.0.0.0/8'], '198.51.100.1'],
    ['not what the client put in front', PROXY, '1.1.1.1, 198.51.100.1', [PROXY], '198.51.100.1'],
    ['with a port', PROXY, '198.51.100.1:4711', [PROXY], '198.51.100.1'],
    ['of version 6 with a port', PROXY, '[2001:db8::1]:4711', [PROXY], '2001:db8::1'],
    ['the proxy, if it tells nothing', PROXY, '', [PROXY], PROXY],
    ['the proxy, if it tells nonsense', PROXY, 'unknown', [PROXY], PROXY],
    ['with a zone', 'fe80::1%eth0', '', ['fe80::/10'], 'fe80::1%eth0'],
    ['nothing', '', '', [PROXY], ''],
  ])('is %s', (_name, peer, header, trusted, expected) =>
    expect(origin(trusted).clientAddress(request({ peer, headers: { 'x-forwarded-for': header } }))).toBe(expected),
  );
});

describe('what nobody else could read', () => {
  const viaProxy = (proto: string) => ({ 'x-forwarded-proto': proto, 'x-forwarded-for': '198.51.100.1' });
  it.each<[string, Sent, string[], boolean]>([
    ['https', { encrypted: true }, [], true],
    ['this host', { peer: '127.0.0.1' }, [], true],
    ['this host, version 6', { peer: '::1' }, [], true],
    ['this host, mapped', { peer: '::ffff:127.0.0.1' }, [], true],
    ['another host', {}, [], false],
    ['another host that claims https', { headers: viaProxy('https') }, [], false],
    ['a trusted proxy with https', { peer: PROXY, headers: viaProxy('https') }, [PROXY], true],
    ['a trusted proxy with http', { peer: PROXY, headers: viaProxy('http') }, [PROXY], false],
    ['a trusted proxy here with http', { peer: '127.0.0.1', headers: viaProxy('http') }, ['127.0.0.1'], false],
  ])('%s', (_name, sent, trusted, expected) => expect(origin(trusted).isPrivate(request(sent))).toBe(expected));
});

it.each(['somewhere', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/8/8', '::/129', '10.0.0'])('TRUSTED_PROXIES=%s stops the start', (proxy) => {
  expect(() => origin([proxy])).toThrow(ConfigError);
  expect(() => origin([proxy])).toThrow(/TRUSTED_PROXIES/);
});
