/** Whether a ledger that is there can be read by this version of svc. */
import { SvcError } from '../../engine/index.ts';
import { migrations } from './migrations.ts';

/** What to do about a ledger of another version. */
export interface VersionCures {
  readonly older: string;
  readonly newer: string;
}

export const OWN_CURES: VersionCures = {
  older: 'Start this version of the proxy once: it brings the ledger up to date.',
  newer: 'Update svc.',
};

/** Throws `config` for any other schema than ours. */
export function assertVersion(name: string, version: number, cures: VersionCures): void {
  if (version === migrations.length) return;
  const isNewer = version > migrations.length;
  throw new SvcError(
    'config',
    `The ledger ${name} has another version than this svc, ${isNewer ? 'a newer' : 'an older'} one`,
    { cure: cures[isNewer ? 'newer' : 'older'] },
  );
}

/** What is said of a ledger whose schema this program does not know, to whoever would write to it. */
export function newerText(name: string, version: number, known: number): string {
  return `The ledger ${name} was written by a newer svc (schema ${version}, this one knows ${known})`;
}
