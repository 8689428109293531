/**
 * The certificates that clients see when a host is intercepted: signed by the local authority and
 * kept in memory until half of their life is over. Each process makes its own key, which is never
 * written to disk.
 */
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { statSync } from 'node:fs';
import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../../engine/index.ts';
import { forwardFiles, readAuthority } from './files.ts';
import type { StoredAuthority } from './files.ts';

/** Half of a leaf's ten days. */
const RENEW_MS = 5 * 24 * 3600 * 1000;

export type Leaves = ReturnType<typeof createLeaves>;

/**
 * Creates the leaf cache for the authority in `home`, which is read again whenever its file has
 * changed.
 */
export function createLeaves({ home, clock }: { readonly home: string; readonly clock: Clock }) {
  const { certificate } = forwardFiles(home);
  let seen = '';
  let reading: Promise<StoredAuthority | undefined> | undefined;
  let leafKey: Promise<KeyObject> | undefined;
  const contexts = new Map<string, { readonly context: SecureContext; readonly madeMs: number }>();

  function authority(): Promise<StoredAuthority | undefined> {
    const found = statSync(certificate, { throwIfNoEntry: false });
    const state = found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
    if (reading === undefined || state !== seen) {
      seen = state;
      contexts.clear();
      reading = readAuthority(home);
    }
    return reading;
  }

  return {
    /**
     * Returns the TLS context for `host`; undefined if the authority may not vouch for it, has
     * expired or does not exist. Rejects with `config` if its files cannot be used.
     */
    async contextFor(host: string): Promise<SecureContext | undefined> {
      const issuer = await authority();
      const nowMs = clock.wallMs();
      if (issuer?.hosts.includes(host) !== true || issuer.expiresMs <= nowMs) return undefined;
      const kept = contexts.get(host);
      if (kept !== undefined && nowMs - kept.madeMs < RENEW_MS) return kept.context;
      const { createKey, createLeaf } = await import('./certificate.ts');
      const key = await (leafKey ??= createKey());
      const context = createSecureContext({
        cert: createLeaf(host, issuer, key, nowMs),
        key: key.export({ type: 'pkcs8', format: 'pem' }),
        minVersion: 'TLSv1.2',
      });
      contexts.set(host, { context, madeMs: nowMs });
      return context;
    },
  };
}
