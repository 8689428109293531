/**
 * Removes the oldest records. A sealed start record replaces them, so that the rest can still be
 * verified.
 */
import { SvcError } from '../../engine/index.ts';
import { appendEvents } from './append.ts';
import { replaceFile } from '../private-file.ts';
import { openToRead, readKey, writeAnchor } from './files.ts';
import type { AuditFiles } from './files.ts';
import type { ChainEnd } from './record.ts';
import { EMPTY_CHAIN, sealStart } from './record.ts';
import { verifyAudit } from './verify.ts';

const COPY_BYTES = 256 * 1024;

/**
 * Removes the records from before `beforeMs` and returns how many there were. The caller holds the
 * lock. Throws `conflict` for a log that does not verify: pruning would hide the fault.
 */
export async function pruneAudit(
  files: AuditFiles,
  beforeMs: number,
  nowMs: number,
): Promise<number> {
  let removed = 0;
  let keepFrom: number | undefined;
  let cut: ChainEnd = EMPTY_CHAIN;
  let end: ChainEnd = EMPTY_CHAIN;
  let wholeBytes = 0;
  const { fault } = await verifyAudit(files, (record, { bytes, offset }) => {
    const isStart = record.kind === 'start';
    end = { seq: record.seq, mac: isStart ? record.prev : record.mac };
    wholeBytes = offset + bytes.length + 1;
    if (keepFrom !== undefined) return;
    // Clocks jump: the first recent record ends the removal, even if later ones carry older times.
    if (!isStart && record.atMs >= beforeMs) keepFrom = offset;
    else {
      cut = end;
      if (!isStart) removed += 1;
    }
  });
  if (fault !== undefined)
    throw new SvcError('conflict', `A log that fails verification is not pruned: ${fault.text}`, {
      cure: `Keep a copy, then move ${files.log} and ${files.headFile} away to start a new log.`,
    });
  if (removed === 0) return 0;
  const key = await readKey(files);
  const log = await openToRead(files.log);
  if (key === undefined || log === undefined) throw new SvcError('conflict', 'The log is gone');
  try {
    // Anchor first: the start record must not replace more than was anchored.
    await writeAnchor(files, key, end);
    const before = new Date(beforeMs).toISOString();
    await replaceFile(files.log, async (draft) => {
      await draft.appendFile(`${sealStart(key, cut, { atMs: nowMs, removed, before })}\n`);
      for (let at = keepFrom ?? wholeBytes; at < wholeBytes;) {
        const max = Math.min(COPY_BYTES, wholeBytes - at);
        const { bytesRead, buffer } = await log.read(Buffer.alloc(max), 0, max, at);
        if (bytesRead === 0) throw new SvcError('conflict', 'The log was cut while it was read');
        await draft.appendFile(buffer.subarray(0, bytesRead));
        at += bytesRead;
      }
    });
  } finally {
    await log.close();
  }
  await appendEvents(files, [
    {
      atMs: nowMs,
      kind: 'audit',
      event: 'pruned',
      details: { removed, before: new Date(beforeMs).toISOString() },
    },
  ]);
  return removed;
}
