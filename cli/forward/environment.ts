/**
 * The environment of a client in forward mode: the proxy with its token, and the certificates to
 * trust. Which variable works depends on the client's runtime: Node and Bun add to their own list,
 * OpenSSL and Rust replace the system's.
 */
import { TOKEN_USER } from '../../server/forward-proxy/tokens.ts';
import { clientVariables } from '../integrate/client.ts';
import { OTHER_LISTS, extraList, writeBundle } from './certificate-lists.ts';
import type { Environment } from './certificate-lists.ts';

export interface ForwardEnvironmentOptions {
  readonly env: Environment;
  readonly home: string;
  /** Address of the proxy, without a trailing slash. */
  readonly url: string;
  readonly token: string;
  readonly authorityPem: string;
}

const PROXY_NAMES = ['HTTPS_PROXY', 'https_proxy'] as const;
const NO_PROXY_NAMES = ['NO_PROXY', 'no_proxy'] as const;
const LOCAL = ['localhost', '127.0.0.1', '::1'];

/**
 * Returns the client's environment. Writes the two certificate lists into the folder of forward
 * mode.
 */
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
    // If the user sets one of these, curl and Python read only that list.
    ...Object.fromEntries(OTHER_LISTS.filter((name) => env[name]).map((name) => [name, bundle])),
    // Codex checks this first.
    CODEX_CA_CERTIFICATE: bundle,
    // Node's own fetch reads HTTPS_PROXY only if this is set.
    NODE_USE_ENV_PROXY: '1',
  };
}

/** Returns the proxy at `url` as a value for `HTTPS_PROXY`. */
export function proxyAddressWith(url: string, token: string): string {
  return url.replace('://', () => `://${TOKEN_USER}:${token}@`);
}

/**
 * Returns the network proxy of the user's shell; undefined if there is none, or it is svc's own.
 */
export function networkProxy(env: Environment): string | undefined {
  const value = first(env, PROXY_NAMES);
  if (value === '' || !URL.canParse(value)) return undefined;
  return new URL(value).username === TOKEN_USER ? undefined : value;
}

/**
 * Removes base URLs that point at svc itself, which would bypass forward mode; any other is kept.
 */
function withoutBaseUrls(env: Environment, url: string): Environment {
  const proxyVariables = Object.entries(clientVariables(url));
  const kept = { ...env };
  for (const [name, value] of proxyVariables) if (kept[name] === value) delete kept[name];
  return kept;
}

function first(env: Environment, names: readonly string[]): string {
  return names.map((name) => env[name] ?? '').find((value) => value !== '') ?? '';
}

function withLocal(env: Environment): string {
  const present = first(env, NO_PROXY_NAMES).split(',');
  return [...new Set([...present, ...LOCAL])].filter((one) => one !== '').join(',');
}
