/** The same rows in a file and in Postgres give the same result for every query. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openIn } from '../../../fixtures/ledger/temp-ledger.ts';
import { startPostgres } from '../../../fixtures/postgres.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';
import { createRandom, randomInt } from '../../../fixtures/random.ts';
import { sumsOfEach } from '../merged-sums.ts';
import { FIGURES } from '../columns.ts';
import type { LedgerReader } from '../tables.ts';
import { HOUR_MS } from '../hours.ts';
import { openReader } from '../open-reader.ts';
import * as queries from '../queries.ts';
import { firstStartMs, rangeReport, sessionReports } from '../range-report.ts';
import { RangeMemory } from '../range/range-memory.ts';
import type { LedgerRow } from '../row.ts';
import { ledgerRow } from '../row.ts';
import type { GroupKey, RowFilter } from '../sums.ts';
import { sumsBy } from '../sums.ts';
import { summariesByNode, summaryOf } from '../summary.ts';
import { toolSet } from '../../model/tool-use.ts';
import type { ToolResults } from '../../model/tool-use.ts';

const ROWS = 5000;
/** In the middle of an hour, so that a span from here on includes a partial hour. */
const NOW_MS = Date.UTC(2026, 10, 20, 12, 34, 56, 789);
const DAYS = 12;

const random = createRandom(7);
const pick = <T>(...of: readonly T[]): T => of[randomInt(random, 0, of.length)]!;
const wholeBelow = (below: number) =>
  pick(null, 0, randomInt(random, 0, below), randomInt(random, 0, below));

const SETS = [
  new Map([
    ['Bash', 700],
    ['mcp__a__b', 299],
    ["o'hara", 1],
  ]),
  new Map([['ärger', 33]]),
].map(toolSet);

function resultsOf(tool: string): ToolResults {
  const [tokens, sentTokens] = [randomInt(random, 0, 9000), randomInt(random, 0, 9000)];
  return { tool, calls: randomInt(random, 1, 4), failed: pick(0, 1), tokens, sentTokens };
}

/**
 * Returns rows of all kinds; latencies are halves and quarters, whose sums are exact in any order.
 */
function rowOf(n: number): LedgerRow {
  const outcome = pick('ok', 'ok', 'ok', 'error', 'cancelled', 'partial');
  return ledgerRow({
    id: `req_${pick('a', 'B', 'ä', 'Z')}${n}`,
    startedMs: NOW_MS - randomInt(random, 0, DAYS * queries.DAY_MS),
    endpoint: pick('/v1/messages', '/v1/chat/completions'),
    outcome,
    provider: pick('messages', 'chat', 'Ünï', null),
    dialect: pick('messages', 'chat', null),
    modelRequested: pick('fast', null),
    model: pick('claude-sonnet', 'GPT-5', 'gpt-4', 'ÄÖ-model', 'o\'hara\\{"x"}', '', null, 'b\0c'),
    stream: pick(true, false),
    status: pick(200, 200, 429, 500, 529, null),
    errorKind: outcome === 'error' ? pick('bad_gateway', 'unavailable', null) : null,
    errorCode: outcome === 'error' ? pick('PROVIDER_003', null) : null,
    inputTokensRaw: wholeBelow(200_000),
    inputTokensSent: wholeBelow(200_000),
    savedTokens: wholeBelow(90_000),
    outputTokens: wholeBelow(8000),
    cacheReadTokens: wholeBelow(200_000),
    cacheWriteTokens: wholeBelow(200_000),
    usageEstimated: pick(true, false),
    costNanoUsd: wholeBelow(9_000_000_000),
    costSavedNanoUsd: wholeBelow(9_000_000_000),
    breakpoints: pick(null, 1, 4),
    costSavedByBreakpointsNanoUsd: pick(
      null,
      -randomInt(random, 0, 1e9),
      randomInt(random, 0, 1e9),
    ),
    forgottenTokens: wholeBelow(1000),
    costSavedByForgettingNanoUsd: wholeBelow(1e9),
    longResultTokens: wholeBelow(1000),
    costSavedByLongResultsNanoUsd: wholeBelow(1e9),
    toolTokens: wholeBelow(1000),
    costSavedByToolsNanoUsd: wholeBelow(1e9),
    cacheMiss: pick('pause', 'model', 'evicted', null),
    cacheMissDetail: pick('7 min', null),
    cacheMissedTokens: wholeBelow(90_000),
    costCacheMissedNanoUsd: wholeBelow(1e9),
    thoughtsRefused: pick(1, null),
    thoughtsDropped: pick(2, null),
    latencyMs: pick(null, randomInt(random, 0, 80_000) / 4, randomInt(random, 0, 800)),
    ttfbMs: pick(null, randomInt(random, 0, 8000) / 2),
    attempts: randomInt(random, 0, 4),
    mode: pick('safe', 'strict', null),
    cacheHit: pick(true, false, false, false),
    chunksInjected: pick(null, null, 0, 3),
    tokensInjected: wholeBelow(3000),
    addedTokens: wholeBelow(3000),
    costAddedNanoUsd: wholeBelow(1e8),
    topChunks: pick(null, [], ['a#1', 'ü "b"'], ['c']),
    client: pick('claude-code', 'Codex', 'ärger', null),
    sessionId: pick(null, `s${randomInt(random, 0, 90)}`, `S${randomInt(random, 0, 9)}`),
    skill: pick(null, 'review'),
    node: pick('desk', 'Attic', null),
    keyLabel: pick('anna', 'Ärger', null),
    project: pick('api', 'Web', null, null),
    toolResults: pick(null, [resultsOf('Bash')], [resultsOf('ärger'), resultsOf('mcp__a__b')]),
    toolDefinitionTokens: wholeBelow(90_000),
    costToolDefinitionsNanoUsd: wholeBelow(9_000_000_000),
    toolSet: pick(null, ...SETS),
    ...Object.fromEntries(FIGURES.map(({ field }) => [field, wholeBelow(5000)])),
  });
}

const FILTERS: Readonly<Record<string, RowFilter>> = {
  'all time': { sinceMs: 0 },
  'a span with whole hours': {
    sinceMs: NOW_MS - 3 * queries.DAY_MS,
    untilMs: NOW_MS - HOUR_MS / 3,
  },
  'within an hour': { sinceMs: NOW_MS - HOUR_MS / 2, untilMs: NOW_MS - HOUR_MS / 4 },
  'before everything': { sinceMs: 0, untilMs: 1000 },
  'part of a model': { sinceMs: 0, model: 'Gpt-' },
  'a model with signs': { sinceMs: 0, model: "'HARA\\{" },
  'any model': { sinceMs: 0, model: '' },
  'a character that Postgres cannot hold': { sinceMs: 0, model: 'B\0', id: '\0' },
  'the same in a model alone': { sinceMs: 0, model: 'B\0' },
  'a provider': { sinceMs: 0, provider: 'Ünï' },
  'a client': { sinceMs: NOW_MS - queries.DAY_MS, client: 'claude-code' },
  'a session': { sinceMs: 0, sessionId: 's7' },
  'an outcome': { sinceMs: 0, outcome: 'partial' },
  failures: { sinceMs: 0, failed: true },
  'the end of an id': { sinceMs: 0, id: '77' },
  'the beginning of an id': { sinceMs: 0, id: 'req_ä1' },
};

const KEYS: readonly (readonly GroupKey[])[] = [
  [],
  ['model'],
  ['provider', 'model'],
  ['sessionId'],
  ['client', 'mode'],
  ['node', 'skill', 'model'],
  ['keyLabel', 'project'],
];

/** Reports twice, the second time on a span that begins a little later. */
async function rangeAgain(db: LedgerReader, filter: RowFilter) {
  const memory = new RangeMemory();
  await rangeReport(db, filter, HOUR_MS / 3, memory);
  const later = { ...filter, sinceMs: filter.sinceMs + 1234 };
  const again = await rangeReport(db, later, HOUR_MS / 3, memory);
  assert.equal(again, await rangeReport(db, later, HOUR_MS / 3));
  return again;
}

/** Every query, by name. */
function* questions(): Generator<readonly [string, (db: LedgerReader) => Promise<unknown>]> {
  for (const [name, filter] of Object.entries(FILTERS)) {
    for (const keys of KEYS) {
      yield [`sums by ${keys.join()}: ${name}`, (db) => sumsBy(db, keys, filter)];
      yield [
        `sums by ${keys.join()} and day: ${name}`,
        (db) => sumsBy(db, keys, filter, queries.DAY_MS),
      ];
    }
    yield [`sums by minutes: ${name}`, (db) => sumsBy(db, ['model'], filter, 60_000)];
    yield [`range: ${name}`, (db) => rangeReport(db, filter, HOUR_MS)];
    yield [`range again: ${name}`, (db) => rangeAgain(db, filter)];
    yield [`range by minutes: ${name}`, (db) => rangeReport(db, filter, 300_000)];
    yield [`sessions: ${name}`, (db) => sessionReports(db, filter, 20)];
    yield [`first: ${name}`, (db) => firstStartMs(db, filter)];
    yield [`newest: ${name}`, (db) => queries.newestRows(db, filter, 300)];
    yield [`percentile: ${name}`, (db) => queries.latencyPercentile(db, filter, 0.95)];
    yield [`by day: ${name}`, (db) => queries.totalsByDay(db, filter)];
    yield [`summary: ${name}`, (db) => summaryOf(db, filter)];
    yield [`by node: ${name}`, (db) => summariesByNode(db, filter)];
  }
  const upto = Math.floor(ROWS * 0.8);
  yield ['newest number', (db) => queries.newestNumber(db)];
  yield ['rows stored', (db) => queries.rowsStored(db, { sinceMs: 0 }, ROWS / 2, upto)];
  yield [
    'failed rows stored',
    (db) => queries.rowsStored(db, { sinceMs: 0, failed: true }, 0, upto),
  ];
  yield [
    'one row',
    async (db) => [await queries.rowWithId(db, 'req_B17'), await queries.rowWithId(db, 'x')],
  ];
  yield ['savings', (db) => queries.savingsReport(db, NOW_MS)];
  yield ['misses', (db) => queries.missReport(db, { sinceMs: 0 })];
  yield ['last day', (db) => queries.lastDayReport(db, NOW_MS)];
  yield ['today', (db) => queries.totalsOfToday(db, NOW_MS)];
  yield ['all', (db) => queries.totalsOf(db)];
  yield ['by all', (db) => queries.totalsByAll(db, ['client', 'model', 'provider'])];
  const day = { sinceMs: NOW_MS - queries.DAY_MS, untilMs: NOW_MS };
  for (const only of [undefined, { node: 'desk' }, { node: null }]) {
    yield [`spent: ${only?.node}`, (db) => queries.spendingIn(db, day, only)];
    yield [`cost by owner: ${only?.node}`, (db) => queries.costByOwner(db, day, only)];
    yield [`sessions spent: ${only?.node}`, (db) => queries.sessionSpending(db, NOW_MS, 30, only)];
  }
  yield ['rows from', (db) => queries.rowsFrom(db, day, undefined, 100)];
  yield [
    'rows from a row on',
    async (db) => {
      const [, last] = await queries.rowsFrom(db, day, undefined, 2);
      return queries.rowsFrom(db, day, last, 100);
    },
  ];
  for (const keys of [['tool'], ['mcp', 'model'], ['tool', 'keyLabel', 'project', 'mode']] as const)
    for (const span of [{ sinceMs: 0 }, day])
      yield [`tools: ${keys.join()}`, (db) => queries.toolSums(db, keys, span)];
  yield ['copies', (db) => sumsOfEach([db], { sinceMs: 0 })];
}

const equal = suite<{ server: Postgres; folder: string }>('the same answers');

equal.before(async (t) => {
  t.server = await startPostgres();
  t.folder = mkdtempSync(join(tmpdir(), 'svc-equal-'));
});
equal.after(async (t) => {
  await t.server.close();
  rmSync(t.folder, { recursive: true, force: true });
});

function withoutNul(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '\u{fffd}');
  if (Array.isArray(value)) return value.map(withoutNul);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutNul(one)]));
}

async function compare(file: LedgerReader, database: LedgerReader): Promise<number> {
  let count = 0;
  for (const [name, ask] of questions()) {
    const [expected, found] = [await ask(file), await ask(database)];
    // A character that one of them cannot store is replaced there.
    assert.equal(found, withoutNul(expected), name);
    count += 1;
  }
  return count;
}

equal(`${ROWS} rows of all kinds, then without the old ones`, async ({ server, folder }) => {
  const url = await server.create('equal');
  const one = openIn(folder, { file: join(folder, 'monitor.db') });
  const two = openIn(folder, { file: url });
  await Promise.all([one.writer.ready(), two.writer.ready()]);
  for (let n = 0; n < ROWS; n += 1) {
    const row = rowOf(n);
    one.writer.record(row);
    two.writer.record(row);
  }
  await Promise.all([one.writer.flush(), two.writer.flush()]);
  assert.equal(
    [one.writer.stats(), two.writer.stats()].map((of) => [of.written, of.dropped]),
    [
      [ROWS, 0],
      [ROWS, 0],
    ],
  );
  const [file, database] = [await openReader(one.file), await openReader(url)];
  const count = await compare(file, database);
  assert.ok(count > 300, `${count} questions`);
  const beforeMs = NOW_MS - 4 * queries.DAY_MS;
  const deleted = [await one.writer.prune(beforeMs), await two.writer.prune(beforeMs)];
  assert.ok(deleted[0]! > 1000);
  assert.is(deleted[1], deleted[0]);
  await compare(file, database);
  for (const each of [file, database]) await each.destroy();
  for (const { writer, errors } of [one, two]) {
    await writer.close();
    assert.equal(errors, []);
  }
});

equal.run();
