/** What tells the ledger of one machine from all others while it lies there: whoever meets it twice counts it once. */
import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';

/** The id of the file as it lies on the machine `host`; null where there is none. It says nothing of either. */
export function ledgerId(file: string, host: string): string | null {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  const { dev, ino, birthtimeNs } = stat;
  const facts = [host, realpathSync(file), dev, ino, birthtimeNs].map(String);
  return createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 32);
}
