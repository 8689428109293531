/** The files recorded in the log, to detect changes, and how much of the log is live. */
import type { FoundFile } from '../read/walk.ts';
import { blocksOf, fileKey, keyOf, type FileHeader, type Framed } from './record.ts';

/**
 * A file may change twice within one tick of its file system's clock, so a time stamp proves that a
 * file is unchanged only if it was this old when the file was read. FAT has the coarsest clock, 2
 * s.
 */
const SETTLED_MS = 2_000;

/** A file's state when it was read. */
export type KnownFile = Omit<FileHeader, 'record' | 'meta' | 'text'>;

export type KnownFiles = ReturnType<typeof createKnownFiles>;

/** Creates an empty sink that keeps the data needed for reindexing, without the blocks. */
export function createKnownFiles() {
  const files = new Map<string, KnownFile>();
  const sizes = new Map<string, number>();
  const owed = new Map<string, number>();
  let liveBytes = 0;
  const setSize = (key: string, bytes: number): void => {
    liveBytes += bytes - (sizes.get(key) ?? 0);
    if (bytes === 0) sizes.delete(key);
    else sizes.set(key, bytes);
  };
  return {
    get: (root: string, path: string): KnownFile | undefined => files.get(fileKey(root, path)),
    all: (): Iterable<KnownFile> => files.values(),
    /** Returns the folders that files were read from, and those that must be reread. */
    roots: () => new Set([...[...files.values()].map(({ root }) => root), ...owed.keys()]),
    /** Folders that must be reread at least in part, with `RootHeader.rereadMs`. */
    owed: owed as ReadonlyMap<string, number>,
    /** Bytes of live records. */
    get liveBytes(): number {
      return liveBytes;
    },
    reset(): void {
      files.clear();
      sizes.clear();
      owed.clear();
      liveBytes = 0;
    },
    apply(framed: Framed, buffer: Buffer): void {
      const { header } = framed;
      if (header.record === 'log') return;
      if (header.record === 'block') {
        setSize(keyOf(header, blocksOf(buffer, framed)), header.meta + header.text);
        return;
      }
      if (header.record === 'root') {
        if (header.rereadMs === undefined) owed.delete(header.root);
        else owed.set(header.root, header.rereadMs);
        return;
      }
      const { root, path } = header;
      const key = fileKey(root, path);
      const known = files.get(key);
      if (header.record === 'drop') files.delete(key);
      else if (header.record === 'file') {
        const { hash, size, mtimeMs, seenMs } = header;
        files.set(key, { root, path, hash, size, mtimeMs, seenMs });
      } else if (known !== undefined) {
        const { size, mtimeMs, seenMs } = header;
        files.set(key, { ...known, size, mtimeMs, seenMs });
      }
      if (header.record === 'drop') setSize(key, 0);
      if (header.record === 'file') setSize(key, header.meta + header.text);
    },
  };
}

/** Returns true when the file on disk is certainly the one that was read. */
export function isUnchanged(known: KnownFile, found: FoundFile): boolean {
  return (
    known.mtimeMs === found.mtimeMs &&
    known.size === found.size &&
    known.seenMs - Math.max(known.mtimeMs, found.ctimeMs) > SETTLED_MS
  );
}
