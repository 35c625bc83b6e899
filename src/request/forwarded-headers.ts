/**
 * Client address, scheme and host of a request, directly or behind trusted proxies. Clients can
 * forge forwarding headers, so only what trusted proxies sent or appended is used. The library
 * `proxy-addr` does not support proxies that append the port.
 */
import { randomUUID } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { ConfigError, type Config } from '../shared/config';

const HOST_PATTERN = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Maximum length of a logged client address: the longest IPv6 address without a zone. A zone may
 * have any length.
 */
const MAX_ADDRESS_LENGTH = 45;

export const truncateClientAddress = (address: string): string =>
  address.slice(0, MAX_ADDRESS_LENGTH);

const unmapIPv4 = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '');
const addressFamily = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Removes a port, also an obfuscated one: `192.0.2.1:4711`, `[2001:db8::1]:_port`. */
const removePort = (address: string) =>
  address.replace(/^\[(.*)\](?::[\w.-]+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):[\w.-]+$/, '$1');

/** What a proxy states about the request that it received. */
interface ProxyStatement {
  /** Address of the previous hop. An unknown or obfuscated one is no IP address. */
  address?: string;
  scheme?: string;
  host?: string;
  port?: string;
}

const X_FORWARDED_HEADERS = [
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
];

/** Longer Forwarded headers are ignored. A dozen proxies need less. */
const MAX_FORWARDED_LENGTH = 4_096;

/** A parameter of a Forwarded header, which may be empty, with the separator after it. */
const FORWARDED_PAIR_PATTERN =
  /[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"\\]+))[ \t]*)?([;,]|$)/y;

/**
 * Parses a Forwarded header (https://www.rfc-editor.org/rfc/rfc7239#section-4) to one statement per
 * proxy. A malformed header counts as absent.
 */
function parseForwarded(header: string): ProxyStatement[] {
  const elements: Record<string, string>[] = [{}];

  if (header.length > MAX_FORWARDED_LENGTH) return [];
  FORWARDED_PAIR_PATTERN.lastIndex = 0;

  while (FORWARDED_PAIR_PATTERN.lastIndex < header.length) {
    const pair = FORWARDED_PAIR_PATTERN.exec(header);

    if (!pair) return [];
    const [, name, quotedValue, token, separator] = pair;

    if (name !== undefined) {
      elements.at(-1)![name.toLowerCase()] = token ?? quotedValue!.replace(/\\(.)/g, '$1');
    }

    if (separator === ',') elements.push({});
  }

  return elements.map(({ for: address, proto: scheme, host }) => ({ address, scheme, host }));
}

/**
 * Reads the X-Forwarded headers, with one statement per address in X-Forwarded-For. If a list has
 * another number of values, only the first scheme, or the last host or port, counts.
 */
function parseXForwarded(headers: IncomingHttpHeaders): ProxyStatement[] {
  const [addresses = [], schemes = [], hosts = [], ports = []] = X_FORWARDED_HEADERS.map((name) =>
    String(headers[name] ?? '')
      .split(',')
      .map((value) => value.trim()),
  );
  const valueAt = (values: string[], index: number, defaultIndex: number) =>
    values.length === addresses.length ? values[index] : values.at(defaultIndex);

  return addresses.map((address, index) => ({
    address,
    scheme: valueAt(schemes, index, 0),
    host: valueAt(hosts, index, -1),
    port: valueAt(ports, index, -1),
  }));
}

/**
 * Parses the statements of the proxies, in the order of the hops. Many proxies set only X-Forwarded
 * headers and pass on a Forwarded header that the client may have forged, so Forwarded is read only
 * without them.
 */
function parseProxyStatements(headers: IncomingHttpHeaders): ProxyStatement[] {
  if (X_FORWARDED_HEADERS.some((name) => headers[name] !== undefined)) {
    return parseXForwarded(headers);
  }

  return parseForwarded(headers.forwarded ?? '');
}

/** Whether a string is a host with an optional port. Prevents host header injection into links. */
const isHost = (host: string) => HOST_PATTERN.test(host) && URL.canParse(`http://${host}`);

/** Header with the id of a request for log and response. A proxy may set it. */
export const REQUEST_ID_HEADER = 'x-request-id';
const MAX_REQUEST_ID_LENGTH = 128;
const REQUEST_ID_PATTERN = /^[\w.:+/=@-]+$/;

const loopbackAddresses = new BlockList();

loopbackAddresses.addSubnet('127.0.0.0', 8);
loopbackAddresses.addAddress('::1', 'ipv6');

/** Network of an address: the IPv4 address itself, or the /64 network of an IPv6 address. */
function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [withoutZone = ''] = address.split('%', 1);
  const [groupsBeforeGap = [], groupsAfterGap] = withoutZone
    .split('::')
    .map((part) => part.split(':').filter(Boolean));
  let groups = groupsBeforeGap;

  if (groupsAfterGap) {
    const zeroCount = 8 - groupsBeforeGap.length - groupsAfterGap.length;

    groups = [...groupsBeforeGap, ...Array<string>(zeroCount).fill('0'), ...groupsAfterGap];
  }

  const networkGroups = groups.slice(0, 4).map((group) => parseInt(group, 16).toString(16));

  return `${networkGroups.join(':')}::/64`;
}

/**
 * The parts of an HTTP request or WebSocket handshake that identify and authenticate its sender.
 */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'>;

export class ForwardedHeaders {
  /** Path of PUBLIC_URL, without a slash at the end. */
  readonly basePath: string;
  private readonly trustedProxies = new BlockList();

  constructor(
    private readonly config: Pick<
      Config,
      'publicUrl' | 'trustedProxies' | 'port' | 'authProxyHeader'
    >,
  ) {
    this.basePath = new URL(config.publicUrl ?? 'http://localhost').pathname.replace(/\/$/, '');

    for (const proxy of config.trustedProxies) {
      const [network = '', prefixLength, ...extraParts] = proxy.split('/');
      const address = unmapIPv4(network);
      const maxPrefixLength = isIP(address) === 6 ? 128 : 32;

      if (
        !isIP(address) ||
        extraParts.length > 0 ||
        (prefixLength !== undefined &&
          !(/^\d{1,3}$/.test(prefixLength) && Number(prefixLength) <= maxPrefixLength))
      ) {
        throw new ConfigError(
          `TRUSTED_PROXIES must be addresses or networks such as 10.0.0.0/8, not ${JSON.stringify(proxy)}`,
        );
      }

      if (prefixLength === undefined) {
        this.trustedProxies.addAddress(address, addressFamily(address));
      } else this.trustedProxies.addSubnet(address, Number(prefixLength), addressFamily(address));
    }
  }

  private isTrustedProxy(address: string): boolean {
    return (
      this.config.trustedProxies.length > 0 &&
      isIP(address) !== 0 &&
      this.trustedProxies.check(address, addressFamily(address))
    );
  }

  private isFromTrustedProxy(request: RequestHead): boolean {
    return this.isTrustedProxy(peerAddress(request));
  }

  /** Name of the user whom a trusted proxy has authenticated (AUTH_PROXY_HEADER). */
  proxyUsername(request: RequestHead): string | undefined {
    const { authProxyHeader } = this.config;

    if (authProxyHeader === undefined || !this.isFromTrustedProxy(request)) return undefined;

    return request.headers[authProxyHeader]?.toString() || undefined;
  }

  /** The request as the client sent it to the first trusted proxy. */
  private clientStatement(request: RequestHead): ProxyStatement & { address: string } {
    let address = peerAddress(request);
    let statement: ProxyStatement = {};

    if (!this.isTrustedProxy(address)) return { address };

    for (const hop of parseProxyStatements(request.headers).reverse()) {
      const previousAddress = unmapIPv4(removePort(hop.address ?? ''));

      statement = {
        scheme: hop.scheme || statement.scheme,
        host: hop.host || statement.host,
        port: hop.port || statement.port,
      };
      if (!isIP(previousAddress)) break;
      address = previousAddress;
      // What a proxy states is trusted only if the next hop confirms that it is a trusted proxy.
      if (!this.isTrustedProxy(address)) break;
    }

    return { ...statement, address };
  }

  /**
   * Client address: the peer of the connection or, behind trusted proxies, the last forwarded
   * address that is not trusted.
   */
  clientAddress(request: RequestHead): string {
    return this.clientStatement(request).address;
  }

  /** Sets X-Request-Id in the request headers to the id from a trusted proxy, or to a new one. */
  assignRequestId(request: RequestHead): string {
    const { headers } = request;
    const receivedId = headers[REQUEST_ID_HEADER];
    const isValidId =
      typeof receivedId === 'string' &&
      receivedId.length <= MAX_REQUEST_ID_LENGTH &&
      REQUEST_ID_PATTERN.test(receivedId) &&
      this.isFromTrustedProxy(request);

    const requestId = isValidId ? receivedId : randomUUID();

    headers[REQUEST_ID_HEADER] = requestId;
    return requestId;
  }

  /**
   * Key by which limits distinguish clients: the IPv4 address, or the /64 network that one IPv6
   * client usually has.
   */
  clientNetwork(request: RequestHead, address = this.clientAddress(request)): string {
    return networkOf(address);
  }

  /** Whether the client uses HTTPS, according to a trusted proxy or to the connection itself. */
  isEncrypted(request: RequestHead): boolean {
    const scheme = this.clientStatement(request).scheme?.toLowerCase();

    if (scheme === 'https' || scheme === 'http') return scheme === 'https';

    return (request.socket as Partial<TLSSocket>).encrypted === true;
  }

  /**
   * Whether the request was unreadable on the network, because it was encrypted or sent from this
   * host.
   */
  isEncryptedOrLocal(request: RequestHead): boolean {
    const address = this.clientAddress(request);

    if (address === '127.0.0.1' || this.isEncrypted(request)) return true;

    return isIP(address) !== 0 && loopbackAddresses.check(address, addressFamily(address));
  }

  /** Scheme, host and base path for absolute links to this server. */
  baseUrl(request: RequestHead): string {
    if (this.config.publicUrl) return this.config.publicUrl;
    const scheme = this.isEncrypted(request) ? 'https' : 'http';
    const { host: forwardedHost = '', port } = this.clientStatement(request);
    let host = request.headers.host ?? '';

    if (isHost(forwardedHost)) host = forwardedHost.toLowerCase();
    if (!isHost(host)) host = `localhost:${this.config.port}`;

    return `${scheme}://${withPort(host, port, scheme)}`;
  }
}

const peerAddress = (request: RequestHead) => unmapIPv4(request.socket.remoteAddress ?? '');

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' };

/** Appends a forwarded port to a host that has none, unless it is the default port. */
function withPort(host: string, port: string | undefined, scheme: string): string {
  const hostWithPort = `${host}:${port}`;
  const hasPort = /:\d+$/.test(host);

  if (!port || hasPort || port === DEFAULT_PORTS[scheme] || !isHost(hostWithPort)) return host;

  return hostWithPort;
}
