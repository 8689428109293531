/** Selects captures for a command: all that are kept, some by id, or those in files. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { readCaptures } from '../../stages/captures/decode.ts';
import { captureFolder } from '../../stages/captures/files.ts';
import type { CaptureRecord } from '../../stages/captures/record.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { readInput } from '../input-file.ts';
import { note } from '../screen/output.ts';
import { pickId, shortId } from '../../server/facts/find-request.ts';

/** Returns the captures of the home folder, oldest first; reports unreadable ones on stderr. */
export function keptCaptures(context: CliContext): readonly CaptureRecord[] {
  const { records, faults } = readCaptures(captureFolder(homeOf(context)));
  for (const fault of faults) note(context, `! ${fault}`);
  return records;
}

/**
 * Returns the captures named by `names`: files, ids of requests or their beginnings or ends, ids of
 * sessions; all kept ones without any name.
 *
 * @throws SvcError `not_found`, `usage` for a part of several ids, `bad_request` for a file of
 * another kind.
 */
export async function capturesNamed(
  names: readonly string[],
  context: CliContext,
): Promise<readonly CaptureRecord[]> {
  if (names.length === 0) {
    const all = keptCaptures(context);
    if (all.length === 0) throw nothingKept();
    return all;
  }
  const records: CaptureRecord[] = [];
  let kept: readonly CaptureRecord[] | undefined;
  for (const name of names) {
    const path = resolve(context.cwd, name);
    if (isFile(path)) records.push(...(await capturesIn(path, context)));
    else {
      kept ??= keptCaptures(context);
      records.push(...capturesOf(name, kept));
    }
  }
  return records;
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

/** Returns the captures in a file; reports on stderr what was left out of it. */
export async function capturesIn(
  path: string,
  context: CliContext,
): Promise<readonly CaptureRecord[]> {
  const bytes = readInput(path);
  const { importCaptures } = await import('../../server/replay/import.ts');
  const { records, notes } = await importCaptures(bytes).catch((thrown: unknown) => {
    if (!(thrown instanceof SvcError)) throw thrown;
    const { kind, message, cure } = thrown;
    throw new SvcError(kind, `${path}: ${message}`, { cause: thrown, cure });
  });
  for (const each of notes) note(context, `! ${path}: ${each}`);
  if (records.length === 0)
    throw new SvcError('bad_request', `${path} contains no request that svc would proxy`);
  return records;
}

function capturesOf(name: string, kept: readonly CaptureRecord[]): readonly CaptureRecord[] {
  if (kept.length === 0) throw nothingKept();
  const ofSession = kept.filter(({ row }) => row.sessionId === name);
  if (ofSession.length > 0) return ofSession;
  const id = pickId(
    kept.map((record) => record.id),
    name,
  );
  const found = kept.filter((record) => record.id === id);
  if (found.length > 0) return found;
  const newest = kept.slice(-5).map((record) => shortId(record.id));
  throw new SvcError('not_found', `There is no capture or file '${name}'`, {
    cure: `The newest captures are ${newest.join(', ')}.`,
  });
}

function nothingKept(): SvcError {
  return new SvcError('not_found', 'No capture is kept', {
    cure: 'Set `capture.enabled: true`, or send `x-svc-capture: on` with a request.',
  });
}
