/**
 * Appends events to the chain. The caller holds the lock. Events are written even if the log was
 * tampered with, but so that a later verification still detects it.
 */
import type { FileHandle } from 'node:fs/promises';
import { SvcError } from '../../engine/index.ts';
import { createKey, openToAppend, openToRead, readAnchor, readKey, writeAnchor } from './files.ts';
import type { AuditFiles } from './files.ts';
import { lastLine } from './lines.ts';
import type { AuditEvent, ChainEnd } from './record.ts';
import { EMPTY_CHAIN, openRecord, sealEvent } from './record.ts';

/** The state of the log after the last append. */
export interface KnownLog {
  readonly inode: number;
  readonly sizeBytes: number;
  readonly end: ChainEnd;
}

/**
 * Appends `events` and anchors the new end. The end of `known` is used without reading the log if
 * the file has not changed since. Throws the error of the file system after undoing a partial
 * write; `config` if the log exists but its key is missing.
 */
export async function appendEvents(
  files: AuditFiles,
  events: readonly AuditEvent[],
  known?: KnownLog,
): Promise<KnownLog> {
  const key = await keyOf(files);
  const log = await openToAppend(files.log);
  try {
    const { ino: inode, size } = await log.stat();
    const isKnown = known?.inode === inode && known.sizeBytes === size;
    const from = isKnown
      ? { end: known.end, notes: [], sizeBytes: size }
      : await findEnd(files, key, log, size, events[0]?.atMs ?? 0);
    let { end } = from;
    let text = '';
    for (const event of [...from.notes, ...events]) {
      const sealed = sealEvent(key, end, event);
      text += `${sealed.line}\n`;
      end = sealed.end;
    }
    await write(log, text, from.sizeBytes);
    await writeAnchor(files, key, end);
    return { inode, sizeBytes: from.sizeBytes + text.length, end };
  } finally {
    await log.close();
  }
}

async function keyOf(files: AuditFiles): Promise<Buffer> {
  const key = await readKey(files);
  if (key !== undefined) return key;
  for (const path of [files.log, files.headFile]) {
    const handle = await openToRead(path);
    await handle?.close();
    if (handle === undefined) continue;
    throw new SvcError('config', `${files.key} is missing: the audit log cannot be continued`, {
      cure: `Put the key back, or move ${files.log} and ${files.headFile} away to start a new log.`,
    });
  }
  const made = await createKey(files);
  // The anchor comes before the log: a log without an anchor means that the anchor was removed.
  await writeAnchor(files, made);
  return made;
}

interface FoundEnd {
  readonly end: ChainEnd;
  /** Events about the state of the log itself, to be recorded first. */
  readonly notes: readonly AuditEvent[];
  readonly sizeBytes: number;
}

async function findEnd(
  files: AuditFiles,
  key: Buffer,
  log: FileHandle,
  sizeBytes: number,
  atMs: number,
): Promise<FoundEnd> {
  const anchor = await readAnchor(files, key);
  const { bytes, endsAt } = await lastLine(log, sizeBytes);
  const last = openRecord(key, bytes);
  const note = (event: string, details: AuditEvent['details'] = {}): AuditEvent => ({
    atMs,
    kind: 'audit',
    event,
    details,
  });
  if (anchor === undefined || anchor === 'forged') {
    const end = last === undefined ? EMPTY_CHAIN : endOf(last);
    const kept = await closeLastLine(log, sizeBytes, endsAt, last === undefined && endsAt > 0);
    const isNew = anchor === undefined && kept === 0;
    return { end, notes: [note(isNew ? 'created' : 'anchor renewed')], sizeBytes: kept };
  }
  const isTruncated = last === undefined ? endsAt > 0 || anchor.seq > 0 : last.seq < anchor.seq;
  const notes = anchor.seq === 0 && endsAt === 0 ? [note('created')] : [];
  const kept = await closeLastLine(log, sizeBytes, endsAt, isTruncated);
  return { end: isTruncated || last === undefined ? anchor : endOf(last), notes, sizeBytes: kept };
}

function endOf({ kind, seq, mac, prev }: { kind: string } & ChainEnd & { prev: string }): ChainEnd {
  return { seq, mac: kind === 'start' ? prev : mac };
}

/**
 * Handles a partial line at the end: if a crash left it, it was never anchored, so it is removed.
 * In a log that was tampered with it is evidence, and is terminated so that it stays.
 */
async function closeLastLine(
  log: FileHandle,
  sizeBytes: number,
  endsAt: number,
  isEvidence: boolean,
): Promise<number> {
  if (sizeBytes === endsAt) return sizeBytes;
  if (isEvidence) {
    await log.appendFile('\n');
    return sizeBytes + 1;
  }
  await log.truncate(endsAt);
  return endsAt;
}

async function write(log: FileHandle, text: string, sizeBytes: number): Promise<void> {
  try {
    await log.appendFile(text);
    await log.datasync();
  } catch (thrown) {
    // Otherwise the events would be written twice.
    await log.truncate(sizeBytes).catch(() => undefined);
    throw thrown;
  }
}
