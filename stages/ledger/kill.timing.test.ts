/**
 * The promise of the ledger: a row recorded 100 ms before `kill -9` is in the
 * file. A child writes under load and is killed at random moments; then its
 * history is held against the file. `SVC_KILL_ROUNDS` sets the rounds (5). Time for which the
 * machine let this process wait is added: the child's writer waited as well.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openLedgerReader } from './sqlite/database.ts';
import { ledgerFaults } from '../../fixtures/ledger/temp-ledger.ts';

const ROUNDS = Number(process.env['SVC_KILL_ROUNDS'] ?? 5);
const ACKNOWLEDGED_MS = 100;
const childScript = fileURLToPath(new URL('./kill-testing.js', import.meta.url));

/** What a child meant to write: id → wall time of the `record()` call. */
function readHistory(file: string): Map<number, number> {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  assert.equal(
    lines.filter((line) => line.startsWith('trouble')),
    [],
  );
  return new Map(
    lines.map((line) => {
      const [id, atMs] = line.split(' ').map(Number);
      return [id ?? Number.NaN, atMs ?? Number.NaN];
    }),
  );
}

/** Starts a child that writes under load and waits for its first row. */
async function startLoad(file: string, history: string, firstId: number): Promise<ChildProcess> {
  const args = [childScript, file, history, String(firstId)];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  const deadline = Date.now() + 10_000;
  while (!existsSync(history) || readFileSync(history).length === 0) {
    assert.ok(Date.now() < deadline, 'the child never began');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return child;
}

/** Kills the child and returns the wall time just before. */
async function kill(child: ChildProcess): Promise<number> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const atMs = Date.now();
  child.kill('SIGKILL');
  await gone;
  return atMs;
}

/** Rounds of so many children at once on one ledger, each round killed at a random moment and checked. */
async function killRounds(rounds: number, children: number): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'svc-kill-'));
  const file = path.join(folder, 'monitor.db');
  const meant = new Set<number>();
  const acknowledged = new Set<number>();
  try {
    for (let round = 0; round < rounds; round += 1) {
      const histories = Array.from({ length: children }, (_, n) =>
        path.join(folder, `history-${round}-${n}`),
      );
      const loads = await Promise.all(
        histories.map((history, n) => startLoad(file, history, (round * children + n + 1) * 1e6)),
      );
      const stalls = monitorEventLoopDelay({ resolution: 1 });
      stalls.enable();
      await new Promise((resolve) => setTimeout(resolve, 120 + Math.random() * 400));
      const killedMs = await Promise.all(loads.map(kill));
      stalls.disable();
      const withinMs = ACKNOWLEDGED_MS + stalls.max / 1e6;
      for (const [n, history] of histories.entries()) {
        for (const [id, atMs] of readHistory(history)) {
          meant.add(id);
          if (atMs <= (killedMs[n] ?? 0) - withinMs) acknowledged.add(id);
        }
      }
      assert.equal(ledgerFaults(file), []);
      await checkRows(file, meant, acknowledged);
    }
    assert.ok(acknowledged.size > rounds * 20, `only ${acknowledged.size} rows were acknowledged`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test(`${ROUNDS} kills under load: no acknowledged row lost, none twice, none invented`, () =>
  killRounds(ROUNDS, 1));

test('the same for two proxies that share a ledger and die together', () =>
  killRounds(Math.ceil(ROUNDS / 3), 2));

async function checkRows(file: string, meant: Set<number>, acknowledged: Set<number>) {
  const reader = openLedgerReader(file);
  const rows = await reader
    .selectFrom('requests')
    .select(['id', 'startedMs', 'inputTokensRaw'])
    .execute();
  await reader.destroy();
  const found = new Set(rows.map((row) => row.startedMs));
  assert.is(found.size, rows.length, 'a row is there twice');
  for (const row of rows) {
    assert.ok(meant.has(row.startedMs), `row ${row.id} was never meant`);
    assert.equal([row.id, row.inputTokensRaw], [`req_${row.startedMs}`, row.startedMs * 3]);
  }
  const lost = [...acknowledged].filter((id) => !found.has(id));
  assert.equal(lost, [], 'acknowledged rows were lost');
}

test.run();
