/** `svc requests` and `svc compare`, compared with the rows of the ledger. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { clock, dayOf, json, rows, withReports } from '../../fixtures/cli/reports.ts';
import type { Json } from '../../fixtures/cli/reports.ts';
import { openIn } from '../../fixtures/ledger/temp-ledger.ts';
import { run, start } from '../../fixtures/cli/run.ts';
import { isFailure, ledgerRow } from '../../stages/ledger/row.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { exitCodes } from '../exit.ts';

test('requests: every filter', () =>
  withReports(async (place) => {
    const ids = async (...argv: string[]) =>
      ((await json(place, ['requests', '-n', '10000', ...argv]))['requests'] as Json[]).map(
        (row) => row['request_id'],
      );
    const expected = (keep: (row: LedgerRow) => boolean) =>
      rows
        .filter(keep)
        .toSorted((a, b) => b.startedMs - a.startedMs || (a.id < b.id ? 1 : -1))
        .map(({ id }) => id);
    assert.equal(
      await ids(),
      expected(() => true),
    );
    assert.equal(await ids('--failed'), expected(isFailure));
    assert.equal(
      await ids('--model', 'GPT'),
      expected((row) => row.model === 'gpt-c'),
    );
    assert.equal(
      await ids('--client', 'codex'),
      expected((row) => row.client === 'codex'),
    );
    assert.equal(
      await ids('--provider', 'chat', '--outcome', 'partial'),
      expected((row) => row.provider === 'chat' && row.outcome === 'partial'),
    );
    assert.equal(
      await ids('--since', '2026-11-01', '--until', '2026-11-02'),
      expected((row) => dayOf(row) === '2026-11-01'),
    );
    const three = (await json(place, ['requests', '-n', '3']))['requests'] as Json[];
    assert.is(three.length, 3);
  }));

test('requests are sorted newest first, in the table and in JSON', () =>
  withReports(async (place) => {
    const { requests } = (await json(place, ['requests', '-n', '20'])) as { requests: Json[] };
    const times = requests.map((row) => String(row['timestamp']));
    assert.equal(times, times.toSorted().toReversed());
    const printed = (await run(place, ['requests', '-n', '20'], { clock })).stdout.trimEnd();
    const ids = printed
      .split('\n')
      .slice(1)
      .map((line) => line.split(' ', 1)[0] ?? '?');
    assert.is(ids.length, 20);
    for (const [at, id] of ids.entries())
      assert.ok(String(requests[at]!['request_id']).endsWith(id), `${at}: ${id}`);
  }));

test('requests --follow prints new requests in the same columns until it is interrupted', () =>
  withReports(async (place) => {
    const [facts] = rows.filter(({ model, costNanoUsd }) => model !== null && costNanoUsd !== null);
    const add = async (...some: readonly (readonly [id: string, startedMs: number])[]) => {
      const { writer } = openIn(place.folder, { file: join(place.home, 'monitor.db') });
      for (const [id, startedMs] of some) writer.record(ledgerRow({ ...facts!, id, startedMs }));
      await writer.close();
    };
    const nowMs = Date.now();
    await add(['req_before1', nowMs], ['req_before2', nowMs], ['req_before3', nowMs]);
    const following = start(place, ['requests', '--follow', '-n', '2']);
    const until = async (pattern: RegExp) => {
      for (let attempts = 0; !pattern.test(following.output.stdout); attempts += 1) {
        assert.ok(attempts < 4800 && following.child.exitCode === null, following.output.stdout);
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    };
    try {
      await until(/waiting for requests/);
      // It started before the listed ones, and ends now.
      await add(['req_slower', nowMs - 60_000]);
      await until(/\nslower /);
      await add(['req_newest', nowMs + 1]);
      await until(/\nnewest /);
    } finally {
      following.child.kill('SIGINT');
    }
    const ran = await following.ended;
    assert.is(ran.code, 0, ran.stderr);
    const lines = ran.stdout.trimEnd().split('\n');
    assert.equal(
      lines.map((line) => line.split(' ', 1)[0]),
      ['request', 'efore2', 'efore3', 'waiting', 'slower', 'newest'],
    );
    const columns = lines.toSpliced(3, 1).map((line) => line.search(/model|claude/));
    assert.equal(new Set(columns).size, 1, ran.stdout);
  }));

test('compare: takes the last request, part of an id, or reports that there is none', () =>
  withReports(async (place) => {
    const last = rows.find(({ inputTokensRaw }) => inputTokensRaw !== null);
    assert.is((await json(place, ['compare']))['request_id'], last?.id);
    const priced = rows.find((row) => row.costNanoUsd !== null && (row.savedTokens ?? 0) > 0)!;
    const printed = await json(place, ['compare', priced.id]);
    for (const part of [priced.id.slice(0, -1), priced.id.slice(-8)]) {
      const ids = rows.map(({ id }) => id).filter((id) => id.startsWith(part) || id.endsWith(part));
      const { code, stderr } = await run(place, ['compare', part], { clock });
      assert.is(code, ids.length === 1 ? 0 : exitCodes.usage, part);
      if (ids.length > 1) assert.match(stderr, `is part of ${ids.length} request ids`);
    }
    assert.is(printed['cost'], priced.costNanoUsd! / 1e9);
    assert.is(
      Math.round(Number(printed['cost_without']) * 1e9),
      priced.costNanoUsd! + priced.costSavedNanoUsd! - priced.costAddedNanoUsd!,
    );
    const none = await run(place, ['compare', 'nobody'], { clock });
    assert.is(none.code, exitCodes.not_found);
    assert.match(none.stderr, /begins or ends with "nobody"/);
  }));

test('compare shows the local time with its zone', () =>
  withReports(async (place) => {
    const ask = (zone: string) => start(place, ['compare', 'req_0000'], { TZ: zone }).ended;
    assert.match((await ask('UTC')).stdout, /, 2026-11-20 15:30:00 UTC\n/);
    assert.match((await ask('Asia/Kolkata')).stdout, /, 2026-11-20 21:00:00 GMT\+5:30\n/);
  }));

test.run();
