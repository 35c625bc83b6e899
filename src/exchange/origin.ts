/**
 * Where a request comes from and under which name the client knows this service, with or without proxies between. Headers are written by
 * whoever sends the request: those of proxies count from the trusted ones only, and of a list only what our own proxy added at its end.
 * `proxy-addr` tells the address only, and not of proxies that write the port too; scheme and host would still be ours.
 */
import { randomUUID } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { ConfigError, type Config } from '../platform/config';

const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

const unmapped = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '');
const family = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (address: string) => address.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');

const last = (header: string | string[] | undefined) =>
  String(header ?? '')
    .split(',')
    .at(-1)!
    .trim()
    .toLowerCase();

/** A host of links must be a host and nothing else, whatever was sent. */
const isHost = (host: string) => HOST.test(host) && URL.canParse(`http://${host}`);

/** What a request is called, by the proxies before us, in our log and in the answer. */
export const REQUEST_ID = 'x-request-id';
const MAX_REQUEST_ID = 128;
const WELL_FORMED_ID = /^[\w.:+/=@-]+$/;

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [withoutZone = ''] = address.split('%', 1);
  const [before = [], after] = withoutZone.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = after ? [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after] : before;
  return `${groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

export class Origin {
  private readonly trusted = new BlockList();
  private knownHost?: string;

  constructor(private readonly config: Pick<Config, 'publicUrl' | 'trustedProxies' | 'port'>) {
    for (const proxy of config.trustedProxies) {
      const [network = '', bits, ...rest] = proxy.split('/');
      const address = unmapped(network);
      const most = isIP(address) === 6 ? 128 : 32;
      if (!isIP(address) || rest.length > 0 || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most)))
        throw new ConfigError(`TRUSTED_PROXIES must be addresses or networks such as 10.0.0.0/8, not ${JSON.stringify(proxy)}`);
      if (bits === undefined) this.trusted.addAddress(address, family(address));
      else this.trusted.addSubnet(address, Number(bits), family(address));
    }
  }

  private isTrusted(address: string): boolean {
    return this.config.trustedProxies.length > 0 && isIP(address) !== 0 && this.trusted.check(address, family(address));
  }

  private isProxied(request: IncomingMessage): boolean {
    return this.isTrusted(unmapped(request.socket.remoteAddress ?? ''));
  }

  /** The client: the peer, or the last address before the trusted proxies. */
  address(request: IncomingMessage): string {
    let address = unmapped(request.socket.remoteAddress ?? '');
    if (!this.isTrusted(address)) return address;
    const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
    while (this.isTrusted(address)) {
      const previous = unmapped(withoutPort((forwarded.pop() ?? '').trim()));
      if (!isIP(previous)) break;
      address = previous;
    }
    return address;
  }

  /** Gives the request its name, which from now on is in its header whatever was sent: the one that a trusted proxy gave it, or a new one. */
  identify(request: IncomingMessage): string {
    const { headers } = request;
    const given = headers[REQUEST_ID];
    const isTaken = typeof given === 'string' && given.length <= MAX_REQUEST_ID && WELL_FORMED_ID.test(given) && this.isProxied(request);
    return (headers[REQUEST_ID] = isTaken ? given : randomUUID());
  }

  /** The address, or of IPv6 the network of its first 64 bits: whoever has one address there has them all. */
  network(request: IncomingMessage, address = this.address(request)): string {
    return networkOf(address);
  }

  /** Whether the client spoke https: with the proxy, if there is one that tells, else with this server. */
  isEncrypted(request: IncomingMessage): boolean {
    const told = this.isProxied(request) ? last(request.headers['x-forwarded-proto']) : '';
    if (told === 'https' || told === 'http') return told === 'https';
    return (request.socket as Partial<TLSSocket>).encrypted === true;
  }

  /** Whether nobody on a network could read what was sent: it was encrypted, or never left this host. */
  isPrivate(request: IncomingMessage): boolean {
    const address = this.address(request);
    if (address === '127.0.0.1' || this.isEncrypted(request)) return true;
    return isIP(address) !== 0 && loopback.check(address, family(address));
  }

  /** Nearly every request names the same host, which need not be looked at again. */
  private isKnownHost(host: string): boolean {
    if (host === this.knownHost) return true;
    if (!isHost(host)) return false;
    this.knownHost = host;
    return true;
  }

  /** Scheme and host of links. */
  baseUrl(request: IncomingMessage): string {
    if (this.config.publicUrl) return this.config.publicUrl;
    const scheme = this.isEncrypted(request) ? 'https' : 'http';
    const told = this.isProxied(request) ? last(request.headers['x-forwarded-host']) : '';
    const host = told && isHost(told) ? told : (request.headers.host ?? '');
    return `${scheme}://${this.isKnownHost(host) ? host : `localhost:${this.config.port}`}`;
  }
}
