/** Where the proxy listens, and how it reaches out. */
import { withScheme } from '../proxy-address.ts';
import { setting } from '../setting.ts';
import { listOf, matching, port, words } from '../value.ts';

const HOST = matching(/^[A-Za-z0-9._:%[\]-]+$/, 'a host name or an address');

/** `server.*`; `proxy.*` says the same. */
export const server = {
  'server.host': setting({
    type: HOST,
    default: '127.0.0.1',
    env: ['SVC_HOST'],
    flag: '--host',
    aliases: ['proxy.host'],
    about:
      'Address to listen on. `0.0.0.0` listens everywhere; anything but loopback needs `security.api_key`.',
    needsRestart: true,
    guarded: true,
  }),
  'server.port': setting({
    type: port,
    default: 8766,
    env: ['SVC_PORT'],
    flag: '--port',
    aliases: ['proxy.port'],
    about: 'Port to listen on. 0 lets the system choose one.',
    needsRestart: true,
  }),
  'server.ws_port': setting({
    type: port,
    default: null,
    defaultText: 'port + 1',
    env: ['SVC_WS_PORT'],
    aliases: ['proxy.ws_port'],
    about: 'Port of the WebSocket listener.',
    needsRestart: true,
  }),
  'server.allowed_hosts': setting({
    type: listOf(HOST, 'a list of host names'),
    default: [],
    guarded: true,
    about: 'Additional names of this proxy; any other `Host` header is refused.',
  }),
};

/** `outbound.*`: the corporate proxy between us and the providers. */
export const outbound = {
  'outbound.https_proxy': setting({
    type: words,
    default: null,
    resolve: withScheme,
    env: ['HTTPS_PROXY', 'https_proxy'],
    about: 'Proxy through which `https:` providers are reached, as a URL.',
    secret: true,
    guarded: true,
    needsRestart: true,
  }),
  'outbound.http_proxy': setting({
    type: words,
    default: null,
    resolve: withScheme,
    env: ['HTTP_PROXY', 'http_proxy'],
    about: 'Proxy through which `http:` providers are reached, as a URL.',
    secret: true,
    guarded: true,
    needsRestart: true,
  }),
  'outbound.no_proxy': setting({
    type: words,
    default: null,
    env: ['NO_PROXY', 'no_proxy'],
    about: 'Hosts that are reached directly, separated by commas.',
    guarded: true,
    needsRestart: true,
  }),
};
