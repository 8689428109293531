/**
 * Reads folders with the results of another tool: `NAME.before.json` is a body as its client sent
 * it, `NAME.after.json` the same request as the tool would send it. The bodies of a folder form one
 * session, in the order of their names; `claim.json` may state the savings that the tool claims.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { SvcError } from '../../engine/index.ts';
import type { TranslatableDialect } from '../../stages/dialect/canonical.ts';
import { isObject, parseJson } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import { bodyKind } from '../sessions/body-kind.ts';
import type { FoldersRead } from '../sessions/read-folders.ts';

export interface Pair {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

export interface PairedSession {
  /** The tool: the name of the outermost folder. */
  readonly tool: string;
  /** The folder below it. */
  readonly name: string;
  readonly dialect: TranslatableDialect;
  /** In the order in which they were sent; at least one. */
  readonly pairs: readonly Pair[];
  /** Tokens that the tool claims to have saved, in all pairs together. */
  readonly claimedTokens: number;
}

const BEFORE = '.before.json';
const CLAIM = 'claim.json';
const inOrder = new Intl.Collator('en', { numeric: true }).compare;

/**
 * Passes each session below `root` to `take`, one at a time. Unreadable folders are listed as
 * failed.
 */
export async function readPairs(
  root: string,
  progress: ((progress: { done: number; total: number }) => void) | undefined,
  take: (session: PairedSession) => Promise<void>,
): Promise<FoldersRead> {
  const folders = pairFolders(root);
  const failed: { path: string; reason: string }[] = [];
  let files = 0;
  for (const [done, folder] of folders.entries()) {
    progress?.({ done, total: folders.length });
    let session: PairedSession;
    try {
      session = readSession(root, folder);
    } catch (thrown) {
      failed.push({ path: folder, reason: reasonOf(thrown) });
      continue;
    }
    files += session.pairs.length;
    await take(session);
  }
  return { files, failed, left: 0, unreadLines: 0 };
}

function pairFolders(root: string): readonly string[] {
  const entries = readdirSync(root, { withFileTypes: true, recursive: true });
  const folders = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(BEFORE))
    .map((entry) => entry.parentPath);
  return [...new Set(folders)].toSorted(inOrder);
}

function readSession(root: string, folder: string): PairedSession {
  const names = readdirSync(folder).filter((name) => name.endsWith(BEFORE));
  const pairs = names.toSorted(inOrder).map((name) => ({
    before: readBody(join(folder, name)),
    after: readBody(join(folder, `${name.slice(0, -BEFORE.length)}.after.json`)),
  }));
  const dialect = bodyKind(pairs[0]!.before);
  if (dialect === undefined)
    throw new SvcError('bad_request', `${names[0]} is not a body in a known dialect`);
  return {
    tool: basename(root),
    name: relative(root, folder) || basename(root),
    dialect,
    pairs,
    claimedTokens: readClaim(folder),
  };
}

function readBody(path: string): JsonObject {
  if (!existsSync(path)) throw new SvcError('not_found', `${basename(path)} is missing`);
  const json = parseJson(readFileSync(path, 'utf8'));
  if (!isObject(json)) throw new SvcError('bad_request', `${basename(path)} is not a JSON object`);
  return json;
}

function readClaim(folder: string): number {
  if (!readdirSync(folder).includes(CLAIM)) return 0;
  const tokens = readBody(join(folder, CLAIM))['saved_tokens'];
  if (typeof tokens === 'number' && tokens >= 0) return tokens;
  throw new SvcError('bad_request', `${CLAIM} has no saved_tokens`);
}
