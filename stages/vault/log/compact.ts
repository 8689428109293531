/**
 * Writes a new log from the live records of an old one: to save space, or to salvage the intact
 * records of a damaged log.
 */
import { link, open, rename, rm, type FileHandle } from 'node:fs/promises';
import type { Layout } from './layout.ts';
import { startOfLog, syncDir, type AppendTarget } from './log.ts';
import { blocksOf, encodeNotice, FORMAT, keyOf, nextRecord, parseRecord } from './record.ts';
import type { Framed } from './record.ts';

/** A smaller log is not worth compacting. */
const MIN_BYTES = 8_388_608;
const READ_BYTES = 1_048_576;

/**
 * Decides what must be reread of a folder according to the new log, as a `RootHeader.rereadMs`,
 * from its path and the value in the old log.
 */
export type RereadDecision = (root: string, before: number | undefined) => number | undefined;

/** Result of a salvage. */
export interface Salvage {
  /** New path of the damaged log; undefined when nothing in it was damaged or unknown. */
  readonly movedTo: string | undefined;
  /** Intact records copied to the new log. */
  readonly kept: number;
  /** Number of places that were not a record. */
  readonly damages: number;
  /** Folders that the old log has or lost files of, and those known to the caller. */
  readonly roots: readonly string[];
}

/** Returns true when more than half of a log is dead, and it is larger than `minBytes`. */
export function isWorthCompacting(
  logBytes: number,
  liveBytes: number,
  minBytes = MIN_BYTES,
): boolean {
  return logBytes > minBytes && liveBytes * 2 < logBytes;
}

/**
 * Replaces the log by one without dead records. Other processes may continue reading the old one.
 */
export async function compact(layout: Layout, target: AppendTarget): Promise<void> {
  await target.lock.during(() =>
    rewrite(layout, target.newLogId(), undefined, { owe: (_root, before) => before }),
  );
}

/**
 * Replaces a damaged log by a new one with all intact records and with what is `owed` to its
 * folders, so that if the reread is interrupted, another process continues it. If the old log had
 * more than was copied, it stays as `<log>.corrupt-<stamp>`.
 */
export function salvage(
  layout: Layout,
  target: AppendTarget,
  stamp: string,
  owed: Rereads,
): Promise<Salvage> {
  const aside = `${layout.log}.corrupt-${stamp}`;
  return target.lock.during(() => rewrite(layout, target.newLogId(), aside, owed));
}

/**
 * What a new log records about folders; `roots` are known to the caller regardless of the old log.
 */
export interface Rereads {
  readonly owe: RereadDecision;
  readonly roots?: readonly string[];
}

async function rewrite(
  layout: Layout,
  logId: string,
  keepOldAs: string | undefined,
  { owe, roots = [] }: Rereads,
): Promise<Salvage> {
  const draft = `${layout.log}.new`;
  const old = await open(layout.log, 'r');
  try {
    const survey = await surveyLog(old);
    const all = [...new Set([...survey.roots, ...roots])];
    const marks = all.flatMap((root) => {
      const rereadMs = owe(root, survey.owed.get(root));
      return rereadMs === undefined ? [] : [encodeNotice({ record: 'root', root, rereadMs })];
    });
    await writeDraft(draft, logId, old, survey.live.values(), marks);
    // Links the old log before it is replaced, so that it is never without a name.
    const movedTo = survey.isWhole ? undefined : keepOldAs;
    if (movedTo !== undefined) await link(layout.log, movedTo);
    await rename(draft, layout.log);
    await syncDir(layout.dir);
    return { movedTo, kept: survey.live.size, damages: survey.damages, roots: all };
  } finally {
    await old.close();
    await rm(draft, { force: true });
  }
}

/** A run of bytes in the log, and the folder its records were read from. */
interface Extent {
  readonly at: number;
  readonly bytes: number;
  readonly root: string | undefined;
}

async function surveyLog(handle: FileHandle) {
  const live = new Map<string, Extent>();
  const owed = new Map<string, number>();
  const lost = new Set<string>();
  let readable = true;
  let unknown = 0;
  const note = (framed: Framed, buffer: Buffer, at: number, bytes: number): void => {
    const { header } = framed;
    if (header.record === 'log') {
      readable = header.format === FORMAT;
      return;
    }
    if (header.record === 'root') {
      // Anything lost before this record was dealt with, or was given up with the folder.
      lost.delete(header.root);
      if (header.rereadMs === undefined) owed.delete(header.root);
      else owed.set(header.root, header.rereadMs);
      return;
    }
    const root = 'root' in header ? header.root : undefined;
    if (!readable) {
      unknown++;
      if (root !== undefined) lost.add(root);
      return;
    }
    // A touch record belongs to its file's record; without it the file is merely reread.
    if (header.record === 'touch') return;
    const key = keyOf(header, header.record === 'block' ? blocksOf(buffer, framed) : []);
    live.delete(key);
    if (header.record !== 'drop') live.set(key, { at, bytes, root });
  };
  const damages = await eachRecord(handle, note, (root) => void lost.add(root));
  const alive = [...live.values()].flatMap(({ root }) => root ?? []);
  const roots = new Set([...alive, ...owed.keys(), ...lost]);
  return { live, damages, owed, roots, isWhole: damages + unknown === 0 };
}

/**
 * Calls `note` with every intact record, skipping anything in between, and returns how often that
 * was necessary. For a damaged record with a readable header, its root is added to `lost`.
 */
async function eachRecord(
  handle: FileHandle,
  note: (framed: Framed, buffer: Buffer, at: number, bytes: number) => void,
  lost: (root: string) => void,
): Promise<number> {
  let base = 0;
  let buffer = Buffer.alloc(0);
  let damages = 0;
  for (let ended = false; !ended || buffer.length > 0;) {
    const chunk = Buffer.allocUnsafe(Math.max(READ_BYTES, buffer.length));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, base + buffer.length);
    buffer = Buffer.concat([buffer, chunk.subarray(0, bytesRead)]);
    ended = bytesRead === 0;
    let at = 0;
    for (;;) {
      const parsed = parseRecord(buffer, at);
      if (typeof parsed === 'object') {
        note(parsed, buffer, base + at, parsed.end - at);
        at = parsed.end;
        continue;
      }
      if (parsed === 'incomplete' && !ended) break;
      if (parsed === 'corrupt' || at < buffer.length) damages++;
      const root = readableRoot(buffer, at);
      if (root !== undefined) lost(root);
      const next = nextRecord(buffer, at + 1);
      at = next === -1 ? buffer.length : next;
      if (next === -1) break;
    }
    base += at;
    buffer = buffer.subarray(at);
  }
  return damages;
}

/** Returns the root in the header line at `at`, if that part of a damaged record is readable. */
function readableRoot(buffer: Buffer, at: number): string | undefined {
  const newline = buffer.indexOf(10, at);
  if (newline === -1) return undefined;
  try {
    const header = JSON.parse(buffer.toString('utf8', at, newline)) as { root?: unknown };
    return typeof header.root === 'string' ? header.root : undefined;
  } catch {
    return undefined;
  }
}

async function writeDraft(
  path: string,
  logId: string,
  old: FileHandle,
  extents: Iterable<Extent>,
  marks: readonly Buffer[],
): Promise<void> {
  const draft = await open(path, 'w', 0o600);
  try {
    await draft.chmod(0o600);
    await draft.writeFile(startOfLog(logId));
    for (const { at, bytes } of extents) {
      const { buffer, bytesRead } = await old.read(Buffer.allocUnsafe(bytes), 0, bytes, at);
      await draft.writeFile(buffer.subarray(0, bytesRead));
    }
    await draft.writeFile(Buffer.concat(marks));
    await draft.sync();
  } finally {
    await draft.close();
  }
}
