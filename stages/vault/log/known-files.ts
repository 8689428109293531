/** What the log knows of files, to find what has changed, and how much of it is still in use. */
import type { FoundFile } from '../read/walk.ts';
import { blocksOf, fileKey, keyOf, type FileHeader, type Framed } from './record.ts';

/**
 * A file may change twice within one tick of its file system's clock. Only a time stamp
 * that was this old when the file was read proves anything; FAT has the coarsest, 2 s.
 */
const SETTLED_MS = 2_000;

/** A file as it was when it was read. */
export type KnownFile = Omit<FileHeader, 'record' | 'meta' | 'text'>;

export type KnownFiles = ReturnType<typeof createKnownFiles>;

/** A sink that keeps what is needed to index again, without the blocks; an empty one. */
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
    /** The folders that files were read from, and those of which something is owed. */
    roots: () => new Set([...[...files.values()].map(({ root }) => root), ...owed.keys()]),
    /** Folders of which something has to be read again, with `RootHeader.rereadMs`. */
    owed: owed as ReadonlyMap<string, number>,
    /** Bytes of records that are still in use. */
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

/** True when the file on disk is surely the one that was read. */
export function isUnchanged(known: KnownFile, found: FoundFile): boolean {
  return (
    known.mtimeMs === found.mtimeMs &&
    known.size === found.size &&
    known.seenMs - Math.max(known.mtimeMs, found.ctimeMs) > SETTLED_MS
  );
}
