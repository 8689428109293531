/**
 * A new log from the records of an old one that are still in use. For saving space, and,
 * where the old log is damaged, for saving what is whole in it.
 */
import { link, open, rename, rm, type FileHandle } from 'node:fs/promises';
import type { Layout } from './layout.ts';
import { startOfLog, syncDir, type AppendTarget } from './log.ts';
import { blocksOf, encodeNotice, FORMAT, keyOf, nextRecord, parseRecord } from './record.ts';
import type { Framed } from './record.ts';

/** Below this a log is not worth the work, whatever it holds. */
const MIN_BYTES = 8_388_608;
const READ_BYTES = 1_048_576;

/**
 * Decides what is owed to a folder in the new log, as `RootHeader.rereadMs` has it, by its
 * path and by what was owed to it before.
 */
export type OweRoot = (root: string, before: number | undefined) => number | undefined;

/** What a salvage found. */
export interface Salvage {
  /** Where the damaged log lies now; undefined when nothing in it was damaged or unknown. */
  readonly movedTo: string | undefined;
  /** Whole records that went into the new log. */
  readonly kept: number;
  /** Places where something was no record. */
  readonly damages: number;
  /** The folders that the old log had files of, or has lost files of, and those that the caller knew. */
  readonly roots: readonly string[];
}

/** True when more than half of a log is out of use, and it has more than `leastBytes`. */
export function isWorthCompacting(
  logBytes: number,
  liveBytes: number,
  leastBytes = MIN_BYTES,
): boolean {
  return logBytes > leastBytes && liveBytes * 2 < logBytes;
}

/** Replaces the log by one without the records that are out of use. Other processes may go on reading the old one. */
export async function compact(layout: Layout, target: AppendTarget): Promise<void> {
  await target.lock.during(() =>
    rewrite(layout, target.newLogId(), undefined, { owe: (_root, before) => before }),
  );
}

/**
 * Puts a new log in the place of a damaged one, with all of its whole records and with what
 * is `owed` to its folders: by that, whoever is interrupted before the files have been read
 * again is followed by somebody who does it. If there was more in the old log than went
 * into the new one, it stays as `<log>.corrupt-<stamp>`.
 */
export function salvage(
  layout: Layout,
  target: AppendTarget,
  stamp: string,
  owed: Owed,
): Promise<Salvage> {
  const aside = `${layout.log}.corrupt-${stamp}`;
  return target.lock.during(() => rewrite(layout, target.newLogId(), aside, owed));
}

/** What new logs say about folders; `roots` are known to the caller, whatever the old log says. */
export interface Owed {
  readonly owe: OweRoot;
  readonly roots?: readonly string[];
}

async function rewrite(
  layout: Layout,
  logId: string,
  keepOldAs: string | undefined,
  { owe, roots = [] }: Owed,
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
    // A second name for the old log before the first is taken from it: at no moment is it nameless.
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

/** A run of bytes in the log, and the folder that what stands there was read from. */
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
      // Whatever was lost before this has been dealt with, or was given up with the folder.
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
    // A time stamp belongs to its file's record: without it the file is read once more.
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
 * Calls `note` with every whole record, whatever stands between them, and returns how often
 * something did. Of a damaged record whose header can still be read, `lost` gets the root.
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

/** The root in the header line at `at`, if that much of a damaged record makes sense. */
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
