/**
 * The files of forward mode, all in `$SVC_HOME/forward`, mode 0600: the authority, its key, the
 * bundle that clients trust, and the hashes of tokens. Removing the folder removes forward mode.
 */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../../engine/error.ts';
import { reasonOf } from '../../../stages/disk-reason.ts';
import { ensureHome, ensurePrivateFolder, writePrivateFile } from '../../config/home.ts';
import type { Identity } from './certificate.ts';

export interface ForwardFiles {
  readonly folder: string;
  readonly certificate: string;
  readonly key: string;
  readonly tokens: string;
  /** The system's list of certificates plus the authority's. */
  readonly bundle: string;
}

/** An authority as stored on disk. */
export interface StoredAuthority extends Identity {
  /** Names that it may vouch for. */
  readonly hosts: readonly string[];
  readonly expiresMs: number;
  /** SHA-256 of the certificate, as pairs of hexadecimal digits with colons. */
  readonly fingerprint: string;
}

export function forwardFiles(home: string): ForwardFiles {
  const folder = join(home, 'forward');
  return {
    folder,
    certificate: join(folder, 'ca.pem'),
    key: join(folder, 'ca-key.pem'),
    tokens: join(folder, 'tokens.json'),
    bundle: join(folder, 'bundle.pem'),
  };
}

export function hasAuthority(home: string): boolean {
  return existsSync(forwardFiles(home).certificate);
}

/**
 * Creates and returns an authority for `hosts`, which replaces any other.
 *
 * @throws SvcError `config` if the folder cannot be used.
 */
export async function makeAuthority(
  home: string,
  hosts: readonly string[],
  nowMs: number,
): Promise<StoredAuthority> {
  const { createAuthority } = await import('./certificate.ts');
  const files = forwardFiles(home);
  const { certificatePem, key } = await createAuthority(hosts, nowMs);
  ensureHome(home);
  ensurePrivateFolder(files.folder);
  writePrivateFile(files.key, key.export({ type: 'pkcs8', format: 'pem' }));
  writePrivateFile(files.certificate, certificatePem);
  return describe({ certificatePem, key }, hosts);
}

/**
 * Reads the authority of `home`; undefined if there is none.
 *
 * @throws SvcError `config` for files that others may read or write, or that do not match each
 * other.
 */
export async function readAuthority(home: string): Promise<StoredAuthority | undefined> {
  if (!hasAuthority(home)) return undefined;
  const { permittedHosts } = await import('./certificate.ts');
  const files = forwardFiles(home);
  try {
    const certificatePem = readPrivate(files.certificate);
    const keyPem = readPrivate(files.key);
    // The library's own error message would be the decoder's.
    const certificate = parsed(files.certificate, 'certificate', () => {
      permittedHosts(certificatePem);
      return new X509Certificate(certificatePem);
    });
    const key = parsed(files.key, 'private key', () => createPrivateKey(keyPem));
    if (!certificate.checkPrivateKey(key))
      throw new Error('its key belongs to another certificate');
    return describe({ certificatePem, key }, permittedHosts(certificatePem));
  } catch (cause) {
    throw new SvcError(
      'config',
      `The certificate authority in ${files.folder} is not used: ${reasonOf(cause)}`,
      { cause, cure: '`svc ca create --force` makes a new one.' },
    );
  }
}

/** Removes all files of forward mode; false if there were none. */
export function removeAuthority(home: string): boolean {
  const { folder } = forwardFiles(home);
  if (!existsSync(folder)) return false;
  rmSync(folder, { recursive: true });
  return true;
}

function describe(identity: Identity, hosts: readonly string[]): StoredAuthority {
  const { validToDate, fingerprint256, validTo } = new X509Certificate(
    identity.certificatePem,
  ) as X509Certificate & { readonly validToDate?: Date };
  const expiresMs = validToDate?.getTime() ?? Date.parse(validTo);
  return { ...identity, hosts, expiresMs, fingerprint: fingerprint256 };
}

function parsed<T>(path: string, what: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new Error(`${path} holds no ${what}`, { cause });
  }
}

function readPrivate(path: string): string {
  const { mode, uid } = statSync(path);
  const own = process.getuid?.();
  if ((mode & 0o077) !== 0) throw new Error(`others may read ${path}`);
  if (own !== undefined && uid !== own) throw new Error(`${path} belongs to another user`);
  return readFileSync(path, 'utf8');
}
