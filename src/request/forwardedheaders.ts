/**
 * Client address, scheme and host of a request that was sent directly or through trusted proxies. Clients can forge forwarding headers. They are therefore
 * used only if a trusted proxy has sent them, and of a list of addresses only the entries that trusted proxies have appended. The library `proxy-addr`
 * determines only the address, and does not support proxies that append the port.
 */
import { randomUUID } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { ConfigError, type Config } from '../platform/config';

const HOST_PATTERN = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

const unmapIPv4 = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '');
const addressFamily = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Removes the port that some proxies append: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const removePort = (address: string) =>
  address.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');

const lastListEntry = (header: string | string[] | undefined) =>
  String(header ?? '')
    .split(',')
    .at(-1)!
    .trim()
    .toLowerCase();

/** Whether a string is a host with an optional port, and nothing else. Prevents host header injection into links. */
const isHost = (host: string) => HOST_PATTERN.test(host) && URL.canParse(`http://${host}`);

/** Header with the id of a request. A proxy may set it. The id is written to the log and sent in the response. */
export const REQUEST_ID_HEADER = 'x-request-id';
const MAX_REQUEST_ID_LENGTH = 128;
const REQUEST_ID_PATTERN = /^[\w.:+/=@-]+$/;

const loopbackAddresses = new BlockList();
loopbackAddresses.addSubnet('127.0.0.0', 8);
loopbackAddresses.addAddress('::1', 'ipv6');

/** Returns an IPv4 address itself, or the /64 network of an IPv6 address. */
function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [withoutZone = ''] = address.split('%', 1);
  const [groupsBeforeGap = [], groupsAfterGap] = withoutZone
    .split('::')
    .map((part) => part.split(':').filter(Boolean));
  const ipv6Groups = groupsAfterGap
    ? [
        ...groupsBeforeGap,
        ...Array<string>(8 - groupsBeforeGap.length - groupsAfterGap.length).fill('0'),
        ...groupsAfterGap,
      ]
    : groupsBeforeGap;
  return `${ipv6Groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** The parts of an HTTP request or WebSocket handshake that identify and authenticate its sender. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'>;

export class ForwardedHeaders {
  private readonly trustedProxies = new BlockList();

  constructor(private readonly config: Pick<Config, 'publicUrl' | 'trustedProxies' | 'port'>) {
    for (const proxy of config.trustedProxies) {
      const [network = '', prefixLength, ...extraParts] = proxy.split('/');
      const address = unmapIPv4(network);
      const maxPrefixLength = isIP(address) === 6 ? 128 : 32;
      if (
        !isIP(address) ||
        extraParts.length > 0 ||
        (prefixLength !== undefined &&
          !(/^\d{1,3}$/.test(prefixLength) && Number(prefixLength) <= maxPrefixLength))
      )
        throw new ConfigError(
          `TRUSTED_PROXIES must be addresses or networks such as 10.0.0.0/8, not ${JSON.stringify(proxy)}`,
        );
      if (prefixLength === undefined)
        this.trustedProxies.addAddress(address, addressFamily(address));
      else this.trustedProxies.addSubnet(address, Number(prefixLength), addressFamily(address));
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
    return this.isTrustedProxy(unmapIPv4(request.socket.remoteAddress ?? ''));
  }

  /** Returns the client address: the address of the connection or, behind trusted proxies, the last one in X-Forwarded-For that is not trusted. */
  clientAddress(request: RequestHead): string {
    let address = unmapIPv4(request.socket.remoteAddress ?? '');
    if (!this.isTrustedProxy(address)) return address;
    const forwardedAddresses = String(request.headers['x-forwarded-for'] ?? '').split(',');
    while (this.isTrustedProxy(address)) {
      const previousHop = unmapIPv4(removePort((forwardedAddresses.pop() ?? '').trim()));
      if (!isIP(previousHop)) break;
      address = previousHop;
    }
    return address;
  }

  /** Sets X-Request-Id in the request headers to the id sent by a trusted proxy, or to a new one. Returns the id. */
  assignRequestId(request: RequestHead): string {
    const { headers } = request;
    const receivedRequestId = headers[REQUEST_ID_HEADER];
    const isReceivedRequestIdValid =
      typeof receivedRequestId === 'string' &&
      receivedRequestId.length <= MAX_REQUEST_ID_LENGTH &&
      REQUEST_ID_PATTERN.test(receivedRequestId) &&
      this.isFromTrustedProxy(request);
    return (headers[REQUEST_ID_HEADER] = isReceivedRequestIdValid
      ? receivedRequestId
      : randomUUID());
  }

  /** Returns the key by which limits distinguish clients: the IPv4 address, or the /64 network, which one IPv6 client usually has. */
  clientNetwork(request: RequestHead, address = this.clientAddress(request)): string {
    return networkOf(address);
  }

  /** Whether the client uses HTTPS, according to X-Forwarded-Proto of a trusted proxy, or else to the connection itself. */
  isEncrypted(request: RequestHead): boolean {
    const scheme = this.isFromTrustedProxy(request)
      ? lastListEntry(request.headers['x-forwarded-proto'])
      : '';
    if (scheme === 'https' || scheme === 'http') return scheme === 'https';
    return (request.socket as Partial<TLSSocket>).encrypted === true;
  }

  /** Whether nobody on the network could read the request, because it was encrypted or sent from this host. */
  isEncryptedOrLocal(request: RequestHead): boolean {
    const address = this.clientAddress(request);
    if (address === '127.0.0.1' || this.isEncrypted(request)) return true;
    return isIP(address) !== 0 && loopbackAddresses.check(address, addressFamily(address));
  }

  /** Returns the scheme and host for absolute links to this server. */
  baseUrl(request: RequestHead): string {
    if (this.config.publicUrl) return this.config.publicUrl;
    const scheme = this.isEncrypted(request) ? 'https' : 'http';
    const forwardedHost = this.isFromTrustedProxy(request)
      ? lastListEntry(request.headers['x-forwarded-host'])
      : '';
    const host =
      forwardedHost && isHost(forwardedHost) ? forwardedHost : (request.headers.host ?? '');
    return `${scheme}://${isHost(host) ? host : `localhost:${this.config.port}`}`;
  }
}
