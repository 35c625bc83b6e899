/** Where a request comes from and under which name the client knows this service, with or without proxies between. */
import { BlockList, isIP } from 'node:net';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { ConfigError, type Config } from './config';

const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

const unmapped = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '');
const family = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

export class Origin {
  private readonly trusted = new BlockList();

  constructor(private readonly config: Pick<Config, 'publicUrl' | 'trustedProxies' | 'port'>) {
    for (const proxy of config.trustedProxies) {
      const [address = '', bits] = proxy.split('/');
      if (!isIP(address) || (bits !== undefined && !/^\d{1,3}$/.test(bits)))
        throw new ConfigError(`TRUSTED_PROXIES must be addresses or networks such as 10.0.0.0/8, not ${JSON.stringify(proxy)}`);
      if (bits === undefined) this.trusted.addAddress(address, family(address));
      else this.trusted.addSubnet(address, Number(bits), family(address));
    }
  }

  private isTrusted(address: string): boolean {
    return this.config.trustedProxies.length > 0 && isIP(address) !== 0 && this.trusted.check(address, family(address));
  }

  /** The client: the peer, or the last address before the trusted proxies. */
  address(request: IncomingMessage): string {
    let address = unmapped(request.socket.remoteAddress ?? '');
    const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
    while (this.isTrusted(address)) {
      const previous = unmapped((forwarded.pop() ?? '').trim());
      if (!isIP(previous)) break;
      address = previous;
    }
    return address;
  }

  /** Scheme and host of links. */
  baseUrl(request: IncomingMessage): string {
    if (this.config.publicUrl) return this.config.publicUrl;
    const proxied = this.isTrusted(unmapped(request.socket.remoteAddress ?? ''));
    const forwarded = (name: string) =>
      proxied
        ? String(request.headers[name] ?? '')
            .split(',')[0]!
            .trim() || undefined
        : undefined;
    const secure = (request.socket as TLSSocket).encrypted === true;
    const scheme = forwarded('x-forwarded-proto') === 'https' || secure ? 'https' : 'http';
    const host = forwarded('x-forwarded-host') ?? request.headers.host ?? '';
    return `${scheme}://${HOST.test(host) ? host : `localhost:${this.config.port}`}`;
  }
}
