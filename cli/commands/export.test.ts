/** `svc export`: every request of a span once, in two formats, with the same sums as the ledger. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';
import { openIn } from '../../fixtures/ledger/temp-ledger.ts';
import { ledgerRow } from '../../stages/ledger/row.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { ledgerColumns } from '../../stages/ledger/tables.ts';
import { exitCodes } from '../exit.ts';

const START = Date.UTC(2026, 10, 20);
/** More rows than one read returns, several of which started in the same millisecond. */
const COUNT = 12_000;

const rows: readonly LedgerRow[] = Array.from({ length: COUNT }, (_, n) =>
  ledgerRow({
    id: `req_${(n * 7919) % COUNT}`,
    startedMs: START + Math.floor(n / 3) * 1000,
    endpoint: '/v1/messages',
    outcome: 'ok',
    model: n % 2 === 0 ? 'claude, "new"' : 'gpt',
    keyLabel: n % 5 === 0 ? null : '=cmd|"/c calc"!A1',
    project: n % 3 === 0 ? 'shop\n\u001b[31m' : 'web',
    costNanoUsd: n % 4 === 0 ? null : n * 1_000_003 + 1,
    cacheHit: n % 6 === 0,
    latencyMs: 0.5,
  }),
);

async function withRows(use: (place: Place) => Promise<void>): Promise<void> {
  const place = makePlace();
  const { writer } = openIn(place.folder, { file: join(place.home, 'monitor.db') });
  for (const [at, row] of rows.entries()) {
    writer.record(row);
    // Its queue is bounded.
    if (at % 5000 === 0) await writer.flush();
  }
  await writer.close();
  try {
    await use(place);
  } finally {
    place.dispose();
  }
}

/** Returns the cells of a CSV text, by RFC 4180; independent of the tested code. */
function readCsv(text: string): string[][] {
  const lines: string[][] = [[]];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') cell += text[(at += 1)]!;
      else isQuoted = false;
    } else if (char === '"') isQuoted = true;
    else if (char === ',') {
      lines.at(-1)!.push(cell);
      cell = '';
    } else if (char === '\r') {
      lines.at(-1)!.push(cell);
      cell = '';
      lines.push([]);
      at += 1;
    } else cell += char;
  }
  return lines.slice(0, -1);
}

test('CSV has every request once, all columns, and exact amounts of money', () =>
  withRows(async (place) => {
    const ran = await run(place, ['export', '--csv']);
    assert.is(ran.code, 0, ran.stderr);
    const [head = [], ...lines] = readCsv(ran.stdout);
    assert.is(head.length, ledgerColumns.length);
    assert.is(lines.length, COUNT);
    assert.ok(lines.every((line) => line.length === head.length));
    const at = (name: string) => head.indexOf(name);
    assert.is(new Set(lines.map((line) => line[at('request_id')])).size, COUNT);
    const times = lines.map((line) => line[at('timestamp')]!);
    assert.equal(times, times.toSorted());
    const nano = (text: string): bigint => {
      const [whole = '', part = ''] = text.split('.');
      return BigInt(whole) * 1_000_000_000n + BigInt(part.padEnd(9, '0'));
    };
    const costs = lines.map((line) => line[at('cost_usd')]!).filter((text) => text !== '');
    assert.is(costs.length, rows.filter((row) => row.costNanoUsd !== null).length);
    assert.is(
      costs.reduce((sum, text) => sum + nano(text), 0n),
      rows.reduce((sum, row) => sum + BigInt(row.costNanoUsd ?? 0), 0n),
    );
    const [first = []] = lines;
    assert.ok(['', '\'=cmd|"/c calc"!A1'].includes(first[at('key')]!), first[at('key')]);
    assert.ok(lines.some((line) => line[at('project')] === 'shop\\x0a\\x1b[31m'));
    assert.not.match(ran.stdout, '\u001b');
  }));

test('JSON has the same rows as CSV, within the time span', () =>
  withRows(async (place) => {
    const ran = await run(place, [
      'export',
      '--json',
      '--since=2026-11-20T00:10:00Z',
      '--until=2026-11-20T01:00:00Z',
    ]);
    assert.is(ran.code, 0, ran.stderr);
    const { requests } = JSON.parse(ran.stdout) as { requests: Record<string, unknown>[] };
    const wanted = rows.filter(
      ({ startedMs }) => startedMs >= START + 600_000 && startedMs < START + 3_600_000,
    );
    assert.is(requests.length, wanted.length);
    const byId = new Map(wanted.map((row) => [row.id, row]));
    for (const one of requests) {
      const row = byId.get(one['request_id'] as string)!;
      assert.equal(
        [one['key'], one['project'], one['cost_usd'], one['cache_hit'], one['ttfb_ms']],
        [row.keyLabel, row.project, row.costNanoUsd && row.costNanoUsd / 1e9, row.cacheHit, null],
      );
    }
  }));

test('without a ledger nothing but the error is written', async () => {
  const place = makePlace();
  try {
    for (const form of ['--csv', '--json']) {
      const { code, stdout, stderr } = await run(place, ['export', form]);
      assert.equal([code, stdout], [exitCodes.not_found, '']);
      assert.match(stderr, 'There is no ledger');
    }
  } finally {
    place.dispose();
  }
});

test('a format is required, and an empty time span gives a complete document', () =>
  withRows(async (place) => {
    for (const argv of [[], ['--csv', '--json']])
      assert.is((await run(place, ['export', ...argv])).code, exitCodes.usage);
    const none = await run(place, ['export', '--json', '--since=2027-01-01']);
    assert.equal(JSON.parse(none.stdout), { requests: [] });
    const head = await run(place, ['export', '--csv', '--since=2027-01-01']);
    assert.is(head.stdout.split('\r\n').length, 2);
  }));

test.run();
