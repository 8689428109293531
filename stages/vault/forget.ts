/** Taking a folder out of the vault, whether or not it is still there. */
import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { compact } from './compact.ts';
import { isInside } from './indexer.ts';
import type { IndexOptions } from './index-run.ts';
import { createKnownFiles } from './known-files.ts';
import { layoutOf, makePrivateDir } from './layout.ts';
import { openLock } from './lock.ts';
import { append, brokenLog, createFollower } from './log.ts';
import { refuseStranger } from './owner.ts';
import { encodeNotice } from './record.ts';

/** What was taken out. */
export interface ForgetReport {
  /** The folder that was named and the indexed ones inside it, as far as they were indexed. */
  readonly roots: readonly string[];
  readonly files: number;
}

/**
 * Takes all files of the folder `root`, and of indexed folders inside it, out of the vault
 * at `indexDir`; their text is gone from the log when this resolves. Ingested blocks stay.
 * Throws `not_found` when no such folder is indexed, `unavailable` when the log is broken,
 * `config` when a file that is not ours lies in its place, `cancelled` when the signal comes
 * while waiting for an indexer.
 */
export async function forgetFolder(
  options: Pick<IndexOptions, 'root' | 'indexDir' | 'newId' | 'signal' | 'onWait'>,
): Promise<ForgetReport> {
  const { signal, onWait } = options;
  const asked = existsSync(options.root) ? realpathSync(options.root) : resolve(options.root);
  const layout = layoutOf(resolve(options.indexDir));
  refuseStranger(layout);
  makePrivateDir(layout.dir);
  const indexLock = openLock(layout.indexLock);
  const lock = openLock(layout.appendLock);
  const known = createKnownFiles();
  const follower = createFollower(layout.log, known);
  try {
    // An indexer that is under way would add what it has found to what is taken out.
    const release = await indexLock.acquire({
      ...(signal && { signal }),
      ...(onWait && { onWait }),
    });
    try {
      const state = await follower.catchUp();
      if (state === 'corrupt' || state === 'outdated') throw brokenLog(state);
      const roots = [...known.roots()].filter((root) => root === asked || isInside(root, asked));
      if (roots.length === 0) throw notIndexed(asked, known.roots());
      const files = [...known.all()].filter(({ root }) => roots.includes(root));
      const records = [
        ...files.map(({ root, path }) => encodeNotice({ record: 'drop', root, path })),
        ...roots.map((root) => encodeNotice({ record: 'root', root })),
      ];
      const target = { path: layout.log, lock, newLogId: options.newId };
      await append(target, follower, () => records, true);
      await compact(layout, target);
      return { roots: roots.toSorted(), files: files.length };
    } finally {
      release();
    }
  } finally {
    await follower.close();
    indexLock.close();
    lock.close();
  }
}

function notIndexed(asked: string, roots: ReadonlySet<string>): SvcError {
  const outer = [...roots].find((root) => isInside(asked, root));
  if (outer === undefined) {
    return new SvcError('not_found', `The folder ${asked} is not in the index`, {
      cure: '`svc index --status` lists the folders that are.',
    });
  }
  return new SvcError('not_found', `The folder ${asked} is indexed as a part of ${outer}`, {
    cure: `Name it in ${outer}/.gitignore and run \`svc index ${outer}\`.`,
  });
}
