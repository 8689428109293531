/**
 * What a client needs in its environment to go through forward mode: the proxy with its token, and
 * whom to trust. Which variable counts depends on what the client is built with: Node and Bun add
 * to their own list, OpenSSL and Rust read a list in place of the system's.
 */
import { TOKEN_USER } from '../../server/forward-proxy/tokens.ts';
import { clientVariables } from '../integrate/client.ts';
import { OTHER_LISTS, extraList, writeBundle } from './certificate-lists.ts';
import type { Environment } from './certificate-lists.ts';

export interface ForwardEnvironmentOptions {
  readonly env: Environment;
  readonly home: string;
  /** Where the proxy is, without a slash at the end. */
  readonly url: string;
  readonly token: string;
  readonly authorityPem: string;
}

const PROXY_NAMES = ['HTTPS_PROXY', 'https_proxy'] as const;
const NO_PROXY_NAMES = ['NO_PROXY', 'no_proxy'] as const;
const LOCAL = ['localhost', '127.0.0.1', '::1'];

/** The client's environment. Writes the two lists of certificates into the folder of forward mode. */
export function forwardEnvironment(options: ForwardEnvironmentOptions): Environment {
  const { env, url, token } = options;
  const address = proxyAddressWith(url, token);
  const bundle = writeBundle(options);
  return {
    ...withoutBaseUrls(env, url),
    ...Object.fromEntries(PROXY_NAMES.map((name) => [name, address])),
    ...Object.fromEntries(NO_PROXY_NAMES.map((name) => [name, withLocal(env)])),
    NODE_EXTRA_CA_CERTS: extraList(options),
    SSL_CERT_FILE: bundle,
    // Where the user names a list, curl and Python look there alone.
    ...Object.fromEntries(OTHER_LISTS.filter((name) => env[name]).map((name) => [name, bundle])),
    // Codex looks here first.
    CODEX_CA_CERTIFICATE: bundle,
    // What Node's own fetch waits for before it reads HTTPS_PROXY.
    NODE_USE_ENV_PROXY: '1',
  };
}

/** The proxy at `url` as `HTTPS_PROXY` names it. */
export function proxyAddressWith(url: string, token: string): string {
  return url.replace('://', () => `://${TOKEN_USER}:${token}@`);
}

/** The proxy of the network that the user's shell names; undefined where there is none, or it is svc's own. */
export function networkProxy(env: Environment): string | undefined {
  const value = first(env, PROXY_NAMES);
  if (value === '' || !URL.canParse(value)) return undefined;
  return new URL(value).username === TOKEN_USER ? undefined : value;
}

/** Base URLs that lead to svc itself would make forward mode pointless; any other is the user's. */
function withoutBaseUrls(env: Environment, url: string): Environment {
  const ours = Object.entries(clientVariables(url));
  const kept = { ...env };
  for (const [name, value] of ours) if (kept[name] === value) delete kept[name];
  return kept;
}

function first(env: Environment, names: readonly string[]): string {
  return names.map((name) => env[name] ?? '').find((value) => value !== '') ?? '';
}

function withLocal(env: Environment): string {
  const present = first(env, NO_PROXY_NAMES).split(',');
  return [...new Set([...present, ...LOCAL])].filter((one) => one !== '').join(',');
}
