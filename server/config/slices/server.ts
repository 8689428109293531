/** Where the proxy listens, and how it connects to providers. */
import { count, kind, port, textKind } from '../../../stages/settings/kind.ts';
import { setting } from '../../../stages/settings/setting.ts';
import { slice } from '../../../stages/settings/slice.ts';
import { proxyFault, withScheme } from '../proxy-address.ts';

const HOST = /^[A-Za-z0-9._:%[\]-]+$/;

/** `server.*`; `proxy.*` is an alias. */
export const server = slice({
  host: setting('server.host', {
    type: kind(HOST, 'a host name or an address'),
    default: '127.0.0.1',
    env: ['SVC_HOST'],
    flag: '--host',
    aliases: ['proxy.host'],
    about:
      'Address to listen on. `0.0.0.0` listens everywhere; anything but loopback needs `security.api_key`.',
    needsRestart: true,
    guarded: true,
    read: (host) => host.replace(/^\[(.*)\]$/, '$1'),
  }),
  port: setting('server.port', {
    type: port,
    default: 8766,
    env: ['SVC_PORT'],
    flag: '--port',
    aliases: ['proxy.port'],
    about: 'Port to listen on. 0 lets the system choose one.',
    needsRestart: true,
  }),
  /** null means the port after the bound one. */
  wsPort: setting('server.ws_port', {
    type: port,
    default: null,
    defaultText: 'port + 1',
    env: ['SVC_WS_PORT'],
    aliases: ['proxy.ws_port'],
    about: 'Port of the WebSocket listener.',
    needsRestart: true,
    example: 8767,
  }),
  allowedHosts: setting('server.allowed_hosts', {
    type: kind([HOST, '[]'], 'a list of host names'),
    default: [],
    guarded: true,
    about: 'Additional names of this proxy; any other `Host` header is refused.',
    read: (hosts): readonly string[] => hosts.map((host) => host.toLowerCase()),
  }),
});

/** `outbound.*`: the corporate proxy between us and the providers. */
export const outbound = slice({
  httpsProxy: setting('outbound.https_proxy', {
    type: textKind,
    default: null,
    resolve: withScheme,
    refuse: refuseAddress,
    env: ['HTTPS_PROXY', 'https_proxy'],
    about: 'Proxy through which `https:` providers are reached, as a URL.',
    secret: true,
    guarded: true,
    needsRestart: true,
  }),
  httpProxy: setting('outbound.http_proxy', {
    type: textKind,
    default: null,
    resolve: withScheme,
    refuse: refuseAddress,
    env: ['HTTP_PROXY', 'http_proxy'],
    about: 'Proxy through which `http:` providers are reached, as a URL.',
    secret: true,
    guarded: true,
    needsRestart: true,
  }),
  noProxy: setting('outbound.no_proxy', {
    type: textKind,
    default: null,
    env: ['NO_PROXY', 'no_proxy'],
    about: 'Hosts that are reached directly, separated by commas.',
    guarded: true,
    needsRestart: true,
  }),
});

/** `forward_proxy.*`: tunnels of clients that use the proxy as `HTTPS_PROXY`. */
export const forwardProxy = slice({
  ports: setting('forward_proxy.ports', {
    type: kind(['1 <= number.integer <= 65535', '[]'], 'a list of ports'),
    default: [443],
    about: 'Ports that forward-mode tunnels may connect to.',
    guarded: true,
  }),
  privateHosts: setting('forward_proxy.private_hosts', {
    type: kind([HOST, '[]'], 'a list of host names and addresses'),
    default: [],
    about: 'Hosts outside the public internet that forward-mode tunnels may still reach.',
    guarded: true,
    read: (hosts): readonly string[] =>
      hosts.map((host) => host.toLowerCase().replace(/^\[(.*)\]$/, '$1')),
  }),
  maxTunnels: setting('forward_proxy.max_tunnels', {
    type: count('tunnels', 1),
    default: 512,
    about:
      'Most concurrent forward-mode tunnels and intercepted connections; any beyond that get 503.',
    guarded: true,
  }),
});

function refuseAddress(address: string) {
  const reason = proxyFault(address);
  return reason === undefined ? [] : [{ reason }];
}
