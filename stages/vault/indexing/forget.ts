/** Removes a folder from the vault, whether or not it still exists. */
import { existsSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SvcError } from '../../../engine/error.ts';
import { compact } from '../log/compact.ts';
import { withIndexLocked } from './index-lock.ts';
import { isInside } from './indexer.ts';
import type { IndexOptions } from './index-run.ts';
import { movedAside } from '../log/layout.ts';
import { append } from '../log/log.ts';
import { encodeNotice } from '../log/record.ts';
import { removeDatabase } from '../backends/sqlite-removal.ts';

/** What was removed. */
export interface ForgetReport {
  /** The named folder and those inside it that were indexed. */
  readonly roots: readonly string[];
  readonly files: number;
  /** Paths of index copies that were moved aside earlier and may still contain the text. */
  readonly remaining: readonly string[];
}

/**
 * Removes all files of the folder `root`, and of indexed folders inside it, from the vault at
 * `indexDir`; their text is gone from the log and the database when this resolves. Ingested blocks
 * stay. Throws `not_found` when no such folder is indexed, and whatever `withIndexLocked` throws.
 */
export async function forgetFolder(
  options: Pick<IndexOptions, 'root' | 'indexDir' | 'newId' | 'signal' | 'onWait'>,
): Promise<ForgetReport> {
  const realRoot = existsSync(options.root) ? realpathSync(options.root) : resolve(options.root);
  return withIndexLocked(options, async ({ layout, known, follower, target }) => {
    const roots = [...known.roots()].filter(
      (root) => root === realRoot || isInside(root, realRoot),
    );
    if (roots.length === 0) throw notIndexedError(realRoot, known.roots());
    const files = [...known.all()].filter(({ root }) => roots.includes(root));
    const records = [
      ...files.map(({ root, path }) => encodeNotice({ record: 'drop', root, path })),
      ...roots.map((root) => encodeNotice({ record: 'root', root })),
    ];
    await append(target, follower, () => records, true);
    await compact(layout, target);
    await removeDatabase(layout);
    const remaining = movedAside(layout).map((name) => join(layout.dir, name));
    return { roots: roots.toSorted(), files: files.length, remaining };
  });
}

function notIndexedError(path: string, roots: ReadonlySet<string>): SvcError {
  const outer = [...roots].find((root) => isInside(path, root));
  if (outer === undefined) {
    return new SvcError('not_found', `The folder ${path} is not in the index`, {
      cure: '`svc index --status` lists the folders that are.',
    });
  }
  return new SvcError('not_found', `The folder ${path} is indexed as a part of ${outer}`, {
    cure: `List it in ${outer}/.gitignore and run \`svc index ${outer}\`.`,
  });
}
