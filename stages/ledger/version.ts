/** Whether this version of svc can read an existing ledger. */
import { SvcError } from '../../engine/index.ts';
import { migrations } from './migrations.ts';

/** What the user can do about a ledger of another version. */
export interface VersionCures {
  readonly older: string;
  readonly newer: string;
}

export const OWN_CURES: VersionCures = {
  older: 'Start this version of the proxy once: it brings the ledger up to date.',
  newer: 'Update svc.',
};

/** Throws `config` for any schema version but ours. */
export function assertVersion(name: string, version: number, cures: VersionCures): void {
  if (version === migrations.length) return;
  const isNewer = version > migrations.length;
  throw new SvcError(
    'config',
    `The ledger ${name} has another version than this svc, ${isNewer ? 'a newer' : 'an older'} one`,
    { cure: cures[isNewer ? 'newer' : 'older'] },
  );
}

/** Returns the message for a ledger with an unknown newer schema, which must not be written to. */
export function newerText(name: string, version: number, known: number): string {
  return `The ledger ${name} was written by a newer svc (schema ${version}, this one knows ${known})`;
}
