/**
 * Lists of certificates for clients in forward mode: what they would trust without svc, with the
 * authority added. A program that is given a list reads that one alone, so whatever the user has
 * named for it has to be in there.
 */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { writePrivateFile } from '../../server/config/home.ts';
import { forwardFiles } from '../../server/forward-proxy/ca/files.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

interface Lists {
  readonly env: Environment;
  readonly home: string;
  readonly authorityPem: string;
}

/** Where systems keep the list that OpenSSL reads. */
const SYSTEM_LISTS = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
];
/** Lists of the user's for one kind of program each; svc's goes in their place. */
export const OTHER_LISTS = [
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'CODEX_CA_CERTIFICATE',
] as const;

const CERTIFICATE =
  /-----BEGIN (TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g;
/** More is no list of certificates. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Writes the system's list, or the one in its place, with the user's others and the authority added; where it is. */
export function writeBundle({ env, home, authorityPem }: Lists): string {
  const { bundle } = forwardFiles(home);
  // Inside of another run that is the list which that one has written.
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

/** The list that Node is to add to its own: the authority, with what the user has it add already. */
export function extraList({ env, home, authorityPem }: Lists): string {
  const { folder, certificate } = forwardFiles(home);
  const named = env['NODE_EXTRA_CA_CERTS'];
  const theirs = named === undefined || named === certificate ? [] : certificatesAt(named);
  if (theirs.length === 0) return certificate;
  const path = join(folder, 'extra.pem');
  writePrivateFile(path, joined([...theirs, ...certificatesOf(authorityPem)]));
  return path;
}

function systemList(): readonly string[] {
  for (const file of SYSTEM_LISTS) {
    const found = certificatesAt(file);
    if (found.length > 0) return found;
  }
  return rootCertificates;
}

/** The certificates of a file, or of the files of a folder; none of what cannot be read, as its reader has it too. */
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
  return stat.isFile() && stat.size <= MOST_BYTES ? certificatesOf(readFileSync(path, 'utf8')) : [];
}

function certificatesOf(text: string): readonly string[] {
  return text.match(CERTIFICATE) ?? [];
}

/** Each once: folders hold links to the same file, and lists one another. */
function joined(certificates: readonly string[]): string {
  return `${[...new Set(certificates.map((one) => one.replaceAll('\r', '')))].join('\n')}\n`;
}
