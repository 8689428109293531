/**
 * Certificate lists for clients in forward mode: the certificates they would trust without svc,
 * plus the authority. A program that is given a list reads only that, so it must include any list
 * that the user has configured.
 */
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { writePrivateFile } from '../../server/config/home.ts';
import { forwardFiles } from '../../server/forward-proxy/ca/files.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Clients into whose settings svc writes a list. */
const CLIENTS_WITH_LISTS = ['claude-code', 'codex'] as const;

interface Lists {
  readonly env: Environment;
  readonly home: string;
  readonly authorityPem: string;
}

/** Locations of the system list that OpenSSL reads. */
const SYSTEM_LISTS = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
];
/** User-defined lists for specific kinds of program; svc's list replaces them. */
export const OTHER_LISTS = [
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'CODEX_CA_CERTIFICATE',
] as const;

const CERTIFICATE =
  /-----BEGIN (TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g;
/** A larger file is not a certificate list. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Writes the system's list, or its replacement, plus the user's others and the authority; returns
 * the path.
 */
export function writeBundle({ env, home, authorityPem }: Lists): string {
  const { bundle } = forwardFiles(home);
  // In a nested run this is the list that the outer run wrote.
  const base = env['SSL_CERT_FILE'] ? certificatesAt(env['SSL_CERT_FILE']) : [];
  const folders = (env['SSL_CERT_DIR'] ?? '').split(delimiter);
  const others = [...folders, ...OTHER_LISTS.map((name) => env[name] ?? '')];
  const all = [
    ...(base.length > 0 ? base : systemList()),
    ...others.flatMap((path) => (path === '' ? [] : certificatesAt(path))),
    ...certificatesOf(authorityPem),
  ];
  writePrivateFile(bundle, joined(all));
  return bundle;
}

/** Returns the list that Node adds to its own: the authority, plus the user's own additions. */
export function extraList({ env, home, authorityPem }: Lists): string {
  const { folder, certificate } = forwardFiles(home);
  const named = env['NODE_EXTRA_CA_CERTS'];
  const userCertificates =
    named === undefined || named === certificate ? [] : certificatesAt(named);
  if (userCertificates.length === 0) return certificate;
  const path = join(folder, 'extra.pem');
  writePrivateFile(path, joined([...userCertificates, ...certificatesOf(authorityPem)]));
  return path;
}

/**
 * Returns the path of the list for `client`'s settings if these already name one: the user's list
 * plus the authority. Undefined for a client without such settings.
 */
export function settingsList(home: string, client: string): string | undefined {
  const known = CLIENTS_WITH_LISTS.find((id) => id === client);
  return known && join(forwardFiles(home).folder, `${known}.pem`);
}

/**
 * Writes it from the current content of the list at `userList`; false if that is not a readable
 * list.
 */
export function writeSettingsList(path: string, userList: string, authorityPem: string): boolean {
  const own = certificatesOf(authorityPem);
  const kept = certificatesAt(userList).filter((pem) => !own.includes(pem));
  writePrivateFile(path, joined([...kept, ...own]));
  return kept.length > 0;
}

export function dropSettingsList(home: string, client: string): void {
  const path = settingsList(home, client);
  if (path !== undefined) rmSync(path, { force: true });
}

/**
 * Puts a new authority into the lists named by clients' settings, which read it at their next
 * start.
 */
export function renewLists({ env, home, authorityPem }: Lists): void {
  if (existsSync(forwardFiles(home).bundle)) writeBundle({ env, home, authorityPem });
  for (const client of CLIENTS_WITH_LISTS) {
    const path = settingsList(home, client);
    if (path === undefined || !existsSync(path)) continue;
    // The last one is the previous authority.
    const kept = certificatesAt(path).slice(0, -1);
    writePrivateFile(path, joined([...kept, ...certificatesOf(authorityPem)]));
  }
}

function systemList(): readonly string[] {
  for (const file of SYSTEM_LISTS) {
    const found = certificatesAt(file);
    if (found.length > 0) return found;
  }
  return rootCertificates;
}

/**
 * Returns the certificates of a file, or of the files of a folder; unreadable ones are skipped, as
 * their usual readers do.
 */
function certificatesAt(path: string): readonly string[] {
  try {
    if (!statSync(path).isDirectory()) return certificatesIn(path);
    return readdirSync(path).flatMap((name) => {
      try {
        return certificatesIn(join(path, name));
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

function certificatesIn(path: string): readonly string[] {
  const stat = statSync(path);
  return stat.isFile() && stat.size <= MAX_BYTES ? certificatesOf(readFileSync(path, 'utf8')) : [];
}

function certificatesOf(text: string): readonly string[] {
  return text.match(CERTIFICATE) ?? [];
}

/** Each once: folders contain links to the same file, and overlap. */
function joined(certificates: readonly string[]): string {
  return `${[...new Set(certificates.map((one) => one.replaceAll('\r', '')))].join('\n')}\n`;
}
