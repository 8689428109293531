/** What `/health` reports about the files of svc, which may have been deleted while it runs. */
import { stat } from 'node:fs/promises';
import { reasonOf } from '../../stages/disk-reason.ts';
import type { Config } from '../config/config.ts';
import type { ServerServices } from '../services.ts';
import { lastKnown } from './last-known.ts';

/**
 * Creates the check of home and ledger, which returns the problems in words; empty when there are
 * none. Never rejects.
 */
export function createHomeFacts(
  { clock, ledgerFile }: Pick<ServerServices, 'clock' | 'ledgerFile'>,
  { home, ledger }: Pick<Config, 'home' | 'ledger'>,
): () => Promise<readonly string[]> {
  return lastKnown<readonly string[]>(clock, [], async () => {
    const [homeProblem, fileState] = await Promise.all([problemOf(home), ledgerFile.fileState()]);
    const list = homeProblem === undefined ? [] : [`home: ${homeProblem}`];
    if (fileState === 'gone')
      list.push(`ledger: the file ${ledger.db} is gone; the next request begins a new one`);
    if (fileState === 'replaced')
      list.push(
        `ledger: the file ${ledger.db} was replaced by another; the next request goes there`,
      );
    return list;
  });
}

async function problemOf(home: string): Promise<string | undefined> {
  try {
    return (await stat(home)).isDirectory() ? undefined : `${home} is not a folder any more`;
  } catch (thrown) {
    const isGone = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    if (isGone) return `the folder ${home} is gone, with all that svc kept in it`;
    return `${home} cannot be looked at: ${reasonOf(thrown)}`;
  }
}
