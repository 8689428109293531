/** What `/health` says about the files that svc keeps, which somebody may have deleted while it runs. */
import { stat } from 'node:fs/promises';
import type { Clock } from '../../engine/index.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import type { LedgerWriter } from '../../stages/ledger/writer-contract.ts';
import { lastKnown } from './last-known.ts';

export interface HomeFactsOptions {
  readonly clock: Clock;
  /** Absolute path of the home folder. */
  readonly home: string;
  readonly ledger: Pick<LedgerWriter, 'fileState'>;
  /** Absolute path of the ledger's file. */
  readonly ledgerFile: string;
}

/** Looks at home and ledger and gives what is wrong, in words for the user; empty when nothing is. Never rejects. */
export function createHomeFacts(options: HomeFactsOptions): () => Promise<readonly string[]> {
  const { home, ledger, ledgerFile } = options;
  return lastKnown<readonly string[]>(options.clock, [], async () => {
    const [homeTrouble, fileState] = await Promise.all([troubleOf(home), ledger.fileState()]);
    const list = homeTrouble === undefined ? [] : [`home: ${homeTrouble}`];
    if (fileState === 'gone')
      list.push(`ledger: the file ${ledgerFile} is gone; the next request begins a new one`);
    if (fileState === 'replaced')
      list.push(
        `ledger: the file ${ledgerFile} was replaced by another; the next request goes there`,
      );
    return list;
  });
}

async function troubleOf(home: string): Promise<string | undefined> {
  try {
    return (await stat(home)).isDirectory() ? undefined : `${home} is not a folder any more`;
  } catch (thrown) {
    const isGone = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    if (isGone) return `the folder ${home} is gone, with all that svc kept in it`;
    return `${home} cannot be looked at: ${reasonOf(thrown)}`;
  }
}
