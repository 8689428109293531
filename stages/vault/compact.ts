/**
 * A new log from the records of an old one that are still in use. For saving space, and,
 * where the old log is damaged, for saving what is whole in it.
 */
import { link, open, rename, rm, type FileHandle } from 'node:fs/promises';
import type { Layout } from './layout.ts';
import { startOfLog, syncDir, type AppendTarget } from './log.ts';
import {
  blocksOf,
  FORMAT,
  keyOf,
  nextRecord,
  parseRecord,
  type Framed,
  type Header,
} from './record.ts';

/** Below this a log is not worth the work, whatever it holds. */
const MIN_BYTES = 8_388_608;
const READ_BYTES = 1_048_576;

/** What a salvage found. */
export interface Salvage {
  /** Where the damaged log lies now. */
  readonly movedTo: string;
  /** Whole records that went into the new log. */
  readonly kept: number;
  /** Places where something was no record. */
  readonly damages: number;
  /** All folders that the old log named; their missing files have to be indexed again. */
  readonly roots: readonly string[];
}

/** True when more than half of a log is out of use. */
export function isWorthCompacting(logBytes: number, liveBytes: number): boolean {
  return logBytes > MIN_BYTES && liveBytes * 2 < logBytes;
}

/** Replaces the log by one without the records that are out of use. Other processes may go on reading the old one. */
export async function compact(layout: Layout, target: AppendTarget): Promise<void> {
  const release = await target.lock.acquire();
  try {
    await rewrite(layout, target.newLogId(), undefined, () => true);
  } finally {
    release();
  }
}

/**
 * Moves a log aside as `<log>.corrupt-<stamp>` and puts one in its place with those of its
 * whole records that `keep` accepts: all of them when absent.
 */
export async function salvage(
  layout: Layout,
  target: AppendTarget,
  stamp: string,
  keep: (header: Header) => boolean = () => true,
): Promise<Salvage> {
  const movedTo = `${layout.log}.corrupt-${stamp}`;
  const release = await target.lock.acquire();
  try {
    const { live, damages, roots } = await rewrite(layout, target.newLogId(), movedTo, keep);
    return { movedTo, kept: live, damages, roots };
  } finally {
    release();
  }
}

async function rewrite(
  layout: Layout,
  logId: string,
  keepOldAs: string | undefined,
  keep: (header: Header) => boolean,
) {
  const draft = `${layout.log}.new`;
  const old = await open(layout.log, 'r');
  try {
    const survey = await surveyLog(old, keep);
    await writeDraft(draft, logId, old, survey.live.values());
    // A second name for the old log before the first is taken from it: at no moment is it nameless.
    if (keepOldAs !== undefined) await link(layout.log, keepOldAs);
    await rename(draft, layout.log);
    await syncDir(layout.dir);
    return { live: survey.live.size, damages: survey.damages, roots: [...survey.roots] };
  } finally {
    await old.close();
    await rm(draft, { force: true });
  }
}

/** A run of bytes in the log. */
interface Extent {
  readonly at: number;
  readonly bytes: number;
}

async function surveyLog(handle: FileHandle, keep: (header: Header) => boolean) {
  const live = new Map<string, Extent>();
  const roots = new Set<string>();
  let readable = true;
  const note = (framed: Framed, buffer: Buffer, at: number, bytes: number): void => {
    const { header } = framed;
    if (header.record === 'log') {
      readable = header.format === FORMAT;
      return;
    }
    if ('root' in header) roots.add(header.root);
    if (!readable) return;
    const key = keyOf(header, header.record === 'block' ? blocksOf(buffer, framed) : []);
    // A time stamp belongs to its file's record: without it the file is read once more.
    if (header.record === 'touch') return;
    live.delete(key);
    if (header.record !== 'drop' && keep(header)) live.set(key, { at, bytes });
  };
  const damages = await eachRecord(handle, note, (root) => void roots.add(root));
  return { live, roots, damages };
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
): Promise<void> {
  const draft = await open(path, 'w', 0o600);
  try {
    await draft.chmod(0o600);
    await draft.writeFile(startOfLog(logId));
    for (const { at, bytes } of extents) {
      const { buffer, bytesRead } = await old.read(Buffer.allocUnsafe(bytes), 0, bytes, at);
      await draft.writeFile(buffer.subarray(0, bytesRead));
    }
    await draft.sync();
  } finally {
    await draft.close();
  }
}
