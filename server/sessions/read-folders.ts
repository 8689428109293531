/**
 * Reads all sessions in some folders, newest files first, within a time limit; writes and sends
 * nothing.
 */
import { setImmediate } from 'node:timers/promises';
import { SvcError } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import { findSessions } from './find.ts';
import { readSessionFile } from './read-file.ts';
import type { Conversation } from './session.ts';

export interface FoldersJob {
  readonly folders: readonly string[];
  readonly clock: Clock;
  /** After this time no further file is started. */
  readonly maxTimeMs: number;
  readonly progress?: (progress: { readonly done: number; readonly total: number }) => void;
}

/** Result for the files. */
export interface FoldersRead {
  /** Files that hold sessions. */
  readonly files: number;
  /** Files that could not be read, and why. */
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
  /** Files not read for lack of time; the oldest ones. */
  readonly left: number;
  /** Skipped lines: not JSON, or too long. */
  readonly unreadLines: number;
}

/**
 * Passes every conversation to `take`, each request in only one of them: clients copy earlier
 * messages into the file of a continued session. Never rejects because of a file.
 */
export async function readFolders(
  { folders, clock, maxTimeMs, progress }: FoldersJob,
  take: (conversation: Conversation) => Promise<void>,
): Promise<FoldersRead> {
  const failed: { path: string; reason: string }[] = [];
  const fail = (path: string, thrown: unknown): void => {
    failed.push({ path, reason: thrown instanceof SvcError ? thrown.message : reasonOf(thrown) });
  };
  const found = folders.flatMap((folder) => findSessions(folder, fail));
  const paths = [...new Map(found.map((file) => [file.path, file])).values()].toSorted(
    (a, b) => b.changedMs - a.changedMs,
  );
  const endMs = clock.monotonicMs() + maxTimeMs;
  const seen = new Set<string>();
  const counts = { files: 0, left: 0, unreadLines: 0 };
  for (const [done, { path }] of paths.entries()) {
    if (clock.monotonicMs() > endMs) {
      counts.left = paths.length - done;
      break;
    }
    progress?.({ done, total: paths.length });
    try {
      for await (const { conversations, unread } of readSessionFile(path)) {
        counts.unreadLines += unread;
        for (const conversation of conversations) {
          const requests = unseenRequests(conversation, seen);
          if (requests.length > 0) await take({ ...conversation, requests });
        }
        // Lets signals be handled between files and sessions.
        await setImmediate();
      }
      counts.files += 1;
    } catch (thrown) {
      fail(path, thrown);
    }
  }
  return { ...counts, failed };
}

function unseenRequests({ requests }: Conversation, seen: Set<string>): Conversation['requests'] {
  const own = requests.filter(({ id }) => id === undefined || !seen.has(id));
  for (const { id } of own) if (id !== undefined) seen.add(id);
  return own;
}
