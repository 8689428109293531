/** Writing, tampering with and verifying the chain, in real files. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock, systemClock } from '../../engine/index.ts';
import type { SvcError } from '../../engine/index.ts';
import { appendEvents } from './append.ts';
import { auditFiles } from './files.ts';
import type { AuditFiles } from './files.ts';
import { AuditLog, withAuditLock } from './log.ts';
import { pruneAudit } from './prune.ts';
import type { AuditEvent } from './record.ts';
import { verifyAudit } from './verify.ts';

const START_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

async function within(use: (files: AuditFiles, home: string) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'svc-audit-'));
  try {
    await use(auditFiles(home), home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Returns events, one per day. */
function events(count: number): AuditEvent[] {
  return Array.from({ length: count }, (_, n) => ({
    atMs: START_MS + n * DAY_MS,
    kind: 'request',
    event: 'finished',
    details: { id: `r${n}`, model: 'modèle\u001b[2J', tokens: n },
  }));
}

const linesOf = (files: AuditFiles): string[] =>
  readFileSync(files.log, 'latin1').split('\n').slice(0, -1);

const write = (files: AuditFiles, lines: readonly string[]): void =>
  writeFileSync(files.log, lines.map((line) => `${line}\n`).join(''), 'latin1');

test('writes events that verify, in private files, in printable ASCII', async () => {
  await within(async (files) => {
    const known = await appendEvents(files, events(5));
    await appendEvents(files, events(2), known);
    await appendEvents(files, events(1));
    const { fault, records, firstSeq, lastSeq, anchoredSeq } = await verifyAudit(files);
    assert.is(fault, undefined);
    assert.equal([records, firstSeq, lastSeq, anchoredSeq], [9, 1, 9, 9]);
    for (const path of [files.log, files.key, files.headFile])
      assert.is(statSync(path).mode & 0o777, 0o600, path);
    assert.match(readFileSync(files.log, 'latin1'), /^[ -~\n]+$/);
    assert.is(JSON.parse(linesOf(files)[1]!).model, 'modèle\u001b[2J');
  });
});

interface Mutation {
  readonly kind: 'edit' | 'delete' | 'swap' | 'truncate' | 'repeat';
  readonly at: number;
  readonly to: number;
  readonly byte: number;
}

/** Returns the log's bytes after a mutation; undefined if it would change nothing. */
function mutate(bytes: Buffer, { kind, at, to, byte }: Mutation): Buffer | undefined {
  const lines = bytes.toString('latin1').split('\n').slice(0, -1);
  const n = at % lines.length;
  const joined = (all: readonly string[]) =>
    Buffer.from(all.map((line) => `${line}\n`).join(''), 'latin1');
  if (kind === 'delete') return joined(lines.toSpliced(n, 1));
  if (kind === 'repeat') return joined(lines.toSpliced(to % lines.length, 0, lines[n]!));
  if (kind === 'truncate') return bytes.subarray(0, at % bytes.length);
  if (kind === 'swap') {
    const m = to % lines.length;
    if (n === m) return undefined;
    return joined(lines.with(n, lines[m]!).with(m, lines[n]!));
  }
  const place = to % bytes.length;
  if (bytes[place] === byte) return undefined;
  const edited = Buffer.from(bytes);
  edited[place] = byte;
  return edited;
}

const MUTATION = fc.record({
  kind: fc.constantFrom<Mutation['kind'][]>('edit', 'delete', 'swap', 'truncate', 'repeat'),
  at: fc.nat(),
  to: fc.nat(),
  byte: fc.integer({ min: 0, max: 255 }),
});

test('detects each of 1,000 random edits, deletions, swaps and truncations', async () => {
  await within(async (files) => {
    await appendEvents(files, events(40));
    await withAuditLock(files, () => pruneAudit(files, START_MS + 10 * DAY_MS, START_MS));
    const sound = readFileSync(files.log);
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(MUTATION, async (mutation) => {
        const mutated = mutate(sound, mutation);
        if (mutated === undefined) return;
        tried += 1;
        writeFileSync(files.log, mutated);
        const { fault } = await verifyAudit(files);
        assert.ok(fault, JSON.stringify(mutation));
      }),
      { numRuns: 1100, seed: 20261122 },
    );
    assert.ok(tried >= 1000, `${tried}`);
    writeFileSync(files.log, sound);
    assert.is((await verifyAudit(files)).fault, undefined);
  });
});

test('reports the first bad record and the kind of fault', async () => {
  await within(async (files) => {
    await appendEvents(files, events(9));
    const lines = linesOf(files);
    const found = async (changed: readonly string[]) => {
      write(files, changed);
      const { fault } = await verifyAudit(files);
      return [fault?.what, fault?.line, fault?.seq];
    };
    const forged = lines[3]!.replace('"tokens":2', '"tokens":3');
    assert.equal(await found(lines.with(3, forged)), ['edited', 4, 4]);
    assert.equal(await found(lines.toSpliced(4, 1)), ['removed', 5, 5]);
    assert.equal(await found(lines.slice(1)), ['removed', 1, 1]);
    const swapped = lines.with(2, lines[6]!).with(6, lines[2]!);
    assert.equal(await found(swapped), ['swapped', 3, 3]);
    assert.equal(await found(lines.toSpliced(5, 0, lines[1]!)), ['inserted', 6, 2]);
    assert.equal(await found(lines.slice(0, 7)), ['truncated', null, 8]);
    assert.equal(await found([]), ['truncated', null, 1]);
    rmSync(files.log);
    assert.is((await verifyAudit(files)).fault?.what, 'truncated');
  });
});

test('still detects tampering after further records are appended', async () => {
  const tamper: Record<string, (files: AuditFiles) => void> = {
    removed: (files) => write(files, linesOf(files).slice(0, 5)),
    edited: (files) => write(files, [...linesOf(files).slice(0, -1), '{"seq":10}']),
  };
  for (const [what, change] of Object.entries(tamper))
    await within(async (files) => {
      const known = await appendEvents(files, events(9));
      change(files);
      await appendEvents(files, events(2), known);
      assert.is((await verifyAudit(files)).fault?.what, what);
    });
});

test('replaces a last line that a crash cut short when the next record is appended', async () => {
  await within(async (files) => {
    await appendEvents(files, events(3));
    const sound = readFileSync(files.log, 'latin1');
    for (const torn of ['{', sound.split('\n')[2]!.slice(0, -1)]) {
      writeFileSync(files.log, sound + torn);
      const before = await verifyAudit(files);
      assert.equal([before.fault, before.hasTornTail], [undefined, true]);
    }
    await appendEvents(files, events(1));
    const after = await verifyAudit(files);
    assert.equal([after.fault, after.hasTornTail, after.records], [undefined, false, 5]);
  });
});

test('accepts a first line that a crash cut short', async () => {
  await within(async (files) => {
    await appendEvents(files, []);
    writeFileSync(files.log, '{"seq":1,"ti');
    rmSync(files.headFile);
    await appendEvents(files, events(1));
    rmSync(files.headFile);
    const { fault } = await verifyAudit(files);
    assert.is(fault?.what, 'anchor');
  });
});

test('recreates a missing or forged anchor, and reports that in every later verification', async () => {
  await within(async (files) => {
    await appendEvents(files, events(3));
    writeFileSync(files.headFile, readFileSync(files.headFile, 'latin1').replace(/^4/, '2'));
    assert.is((await verifyAudit(files)).fault?.what, 'anchor');
    rmSync(files.headFile);
    assert.is((await verifyAudit(files)).fault?.what, 'anchor');
    await appendEvents(files, events(1));
    const { fault, warnings } = await verifyAudit(files);
    assert.is(fault, undefined);
    assert.match(warnings.join(), /recreated with record 5/);
  });
});

test('refuses to verify or continue a log without its key', async () => {
  await within(async (files) => {
    await appendEvents(files, events(3));
    rmSync(files.key);
    assert.is((await verifyAudit(files)).fault?.what, 'key');
    const error = await appendEvents(files, events(1)).catch((thrown: unknown) => thrown);
    assert.match((error as SvcError).message, /audit\.key is missing/);
    assert.not.ok(existsSync(files.key));
  });
});

test('does not follow a symbolic link in place of the log', async () => {
  await within(async (files, home) => {
    await appendEvents(files, events(1));
    const victim = join(home, 'victim');
    writeFileSync(victim, 'mine');
    rmSync(files.log);
    symlinkSync(victim, files.log);
    await assertRejects(appendEvents(files, events(1)));
    await assertRejects(verifyAudit(files));
    assert.is(readFileSync(victim, 'utf8'), 'mine');
  });
});

async function assertRejects(work: Promise<unknown>): Promise<void> {
  const outcome = await work.then(
    () => 'resolved',
    () => 'rejected',
  );
  assert.is(outcome, 'rejected');
}

test('keeps a pruned log verifiable and appendable, even after every record was pruned', async () => {
  await within(async (files) => {
    await appendEvents(files, events(10));
    assert.is(await pruneAudit(files, START_MS + 4 * DAY_MS, START_MS + 20 * DAY_MS), 5);
    const once = await verifyAudit(files);
    assert.equal([once.fault, once.firstSeq, once.lastSeq, once.pruned], [undefined, 6, 12, 5]);
    assert.is(await pruneAudit(files, START_MS + 4 * DAY_MS, START_MS + 20 * DAY_MS), 0);
    await appendEvents(files, events(1));
    assert.is(await pruneAudit(files, START_MS + 99 * DAY_MS, START_MS + 98 * DAY_MS), 8);
    const last = await verifyAudit(files);
    assert.equal([last.fault, last.records, last.pruned], [undefined, 1, 13]);
    write(files, linesOf(files).slice(1));
    assert.is((await verifyAudit(files)).fault?.what, 'removed');
  });
});

test('refuses to prune a log with a fault', async () => {
  await within(async (files) => {
    await appendEvents(files, events(10));
    write(files, linesOf(files).toSpliced(2, 1));
    const before = readFileSync(files.log, 'utf8');
    await assertRejects(pruneAudit(files, START_MS + 5 * DAY_MS, START_MS));
    assert.is(readFileSync(files.log, 'utf8'), before);
  });
});

test('serialises several writers into one chain', async () => {
  await within(async (files) => {
    const open = () =>
      new AuditLog({
        files,
        clock: systemClock,
        onProblem: (error) => {
          throw error;
        },
      });
    const logs = [open(), open(), open()];
    for (const log of logs) log.enable(true);
    for (let n = 0; n < 300; n += 1)
      logs[n % 3]!.add({ kind: 'request', event: 'finished', details: { n } });
    await Promise.all(logs.map((log) => log.close()));
    const { fault, records } = await verifyAudit(files);
    assert.equal([fault, records], [undefined, 304]);
  });
});

test('drops events when the queue is full, and records how many', async () => {
  await within(async (files) => {
    const clock = createManualClock();
    const log = new AuditLog({ files, clock, maxQueued: 3, onProblem: () => undefined });
    log.add({ kind: 'proxy', event: 'started', details: {} });
    assert.is(log.stats().queued, 0);
    log.enable(true);
    for (let n = 0; n < 7; n += 1) log.add({ kind: 'request', event: 'finished', details: {} });
    assert.equal([log.stats().queued, log.stats().dropped], [3, 5]);
    await log.flush();
    const last = JSON.parse(linesOf(files).at(-1)!);
    assert.equal([last.event, last.records], ['dropped', 5]);
    await log.close();
    assert.is((await verifyAudit(files)).fault, undefined);
  });
});

test('reports a failing disk once, and writes the queued events when it recovers', async () => {
  await within(async (files) => {
    const problems: string[] = [];
    const log = new AuditLog({
      files,
      clock: createManualClock(),
      onProblem: (error) => problems.push(error.message),
    });
    symlinkSync('/nonexistent/audit', files.log);
    log.enable(true);
    await log.flush();
    await log.flush();
    assert.is(problems.length, 1);
    rmSync(files.log);
    rmSync(files.lock);
    mkdirSync(files.lock);
    await log.flush();
    assert.is(problems[1], `${files.lock} cannot be written: it cannot be opened`);
    rmdirSync(files.lock);
    await log.close();
    assert.equal([log.stats().queued, log.stats().problem], [0, undefined]);
    assert.is((await verifyAudit(files)).fault, undefined);
  });
});

test.run();
