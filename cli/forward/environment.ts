/**
 * What a client needs in its environment to go through forward mode: the proxy with its token, and
 * whom to trust. Which variable counts depends on what the client is built with: Node and Bun add
 * to their own list, OpenSSL and Rust read a list in place of the system's.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { writePrivateFile } from '../../server/config/home.ts';
import { forwardFiles } from '../../server/forward-proxy/ca/files.ts';
import { TOKEN_USER } from '../../server/forward-proxy/tokens.ts';
import { exemptions } from '../../server/outbound/no-proxy.ts';
import { clientVariables } from '../integrate/client.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ForwardEnvironmentOptions {
  readonly env: Environment;
  readonly home: string;
  /** Where the proxy is, without a slash at the end. */
  readonly url: string;
  readonly token: string;
  readonly authorityPem: string;
}

/** Where systems keep the list that OpenSSL reads. */
const SYSTEM_LISTS = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
];
const OTHER_LISTS = ['CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE'] as const;
const PROXY_NAMES = ['HTTPS_PROXY', 'https_proxy'] as const;
const NO_PROXY_NAMES = ['NO_PROXY', 'no_proxy'] as const;
const LOCAL = ['localhost', '127.0.0.1', '::1'];

/** The client's environment. Writes the two lists of certificates into the folder of forward mode. */
export function forwardEnvironment(options: ForwardEnvironmentOptions): Environment {
  const { env, url, token, home, authorityPem } = options;
  const { folder, certificate } = forwardFiles(home);
  const address = proxyAddressWith(url, token);
  const bundle = writeBundle(options);
  return {
    ...withoutBaseUrls(env, url),
    ...Object.fromEntries(PROXY_NAMES.map((name) => [name, address])),
    ...Object.fromEntries(NO_PROXY_NAMES.map((name) => [name, withLocal(env)])),
    NODE_EXTRA_CA_CERTS: extraList(env, certificate, join(folder, 'extra.pem'), authorityPem),
    SSL_CERT_FILE: bundle,
    // Codex looks here first.
    CODEX_CA_CERTIFICATE: bundle,
    // Where the user names a list, curl and Python look there alone.
    ...Object.fromEntries(OTHER_LISTS.filter((name) => env[name]).map((name) => [name, bundle])),
    // What Node's own fetch waits for before it reads HTTPS_PROXY.
    NODE_USE_ENV_PROXY: '1',
  };
}

/** The proxy at `url` as `HTTPS_PROXY` names it. */
export function proxyAddressWith(url: string, token: string): string {
  return url.replace('://', () => `://${TOKEN_USER}:${token}@`);
}

/** Writes the system's list with the authority added; where it is. */
export function writeBundle({
  env,
  home,
  authorityPem,
}: Pick<ForwardEnvironmentOptions, 'env' | 'home' | 'authorityPem'>): string {
  const { bundle } = forwardFiles(home);
  writePrivateFile(bundle, `${systemList(env)}\n${authorityPem}`);
  return bundle;
}

/** Of `hosts`, those that the user's `NO_PROXY` leads past the proxy. */
export function hostsPast(env: Environment, hosts: readonly string[]): readonly string[] {
  const isExempt = exemptions(first(env, NO_PROXY_NAMES));
  return hosts.filter((hostname) => isExempt({ protocol: 'https:', hostname, port: '' }));
}

/** Variables that name a client's provider, and the host that is none of `hosts` and not the proxy at `url`. */
export function basesPast(
  env: Environment,
  url: string,
  hosts: readonly string[],
): readonly { readonly name: string; readonly host: string }[] {
  return Object.entries(clientVariables(url)).flatMap(([name, ours]) => {
    const value = env[name];
    if (value === undefined || value === ours || !URL.canParse(value)) return [];
    const { hostname, host } = new URL(value);
    return hosts.includes(hostname) ? [] : [{ name, host }];
  });
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

function systemList(env: Environment): string {
  const named = ['SSL_CERT_FILE' as const, ...OTHER_LISTS].map((name) => env[name] || undefined);
  const file = [...named, ...SYSTEM_LISTS].find((path) => path !== undefined && existsSync(path));
  return file === undefined ? rootCertificates.join('\n') : readFileSync(file, 'utf8');
}

/** A file that the user has added to Node's list already stays a part of it. */
function extraList(
  env: Environment,
  certificate: string,
  joined: string,
  authorityPem: string,
): string {
  const named = env['NODE_EXTRA_CA_CERTS'];
  const isOurs = named === certificate || named === joined;
  if (named === undefined || isOurs || !existsSync(named)) return certificate;
  writePrivateFile(joined, `${readFileSync(named, 'utf8')}\n${authorityPem}`);
  return joined;
}
