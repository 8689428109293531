/** The sums that machines exchange: written sums can be read back, and anything else is refused. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folderForEach, rowOf } from '../../fixtures/ledger/temp-ledger.ts';
import { openLedgerReader } from './sqlite/database.ts';
import { addTotals } from './figures.ts';
import { addSummaries, summaryFrom, summaryJson, summaryOf } from './summary.ts';

const test = suite('summary');
const ledgers = folderForEach(test);

const DAY = 86_400_000;

async function summary() {
  const { writer, file } = ledgers.open();
  await writer.ready();
  const rows = [
    { model: 'claude-a', inputTokensRaw: 10, inputTokensSent: 8, savedTokens: 2, costNanoUsd: 7 },
    { model: 'claude-b', inputTokensRaw: 5, inputTokensSent: 5, latencyMs: 1.5, costNanoUsd: 1 },
    { model: '__proto__', outputTokens: 3, breakpoints: 1, costSavedByBreakpointsNanoUsd: -40 },
    { outcome: 'error' as const, latencyMs: 0.25 },
  ];
  for (const [at, more] of rows.entries())
    writer.record(rowOf(at, { ...more, startedMs: Date.UTC(2026, 10, 20) + at * DAY }));
  await writer.flush();
  await writer.close();
  const reader = openLedgerReader(file);
  try {
    return await summaryOf(reader, { sinceMs: 0 });
  } finally {
    await reader.destroy();
  }
}

test('a written summary can be read back', async () => {
  const made = await summary();
  const written = JSON.stringify(summaryJson(made));
  assert.equal(summaryFrom(JSON.parse(written)), made);
  assert.equal(
    made.byDay.map(({ date, requests }) => [date, requests]),
    ['2026-11-20', '2026-11-21', '2026-11-22', '2026-11-23'].map((date) => [date, 1]),
  );
  assert.equal(
    new Set(made.byModel.map(({ key }) => key)),
    new Set(['claude-a', 'claude-b', '__proto__', null]),
  );
});

test('two summaries are added up', async () => {
  const made = await summary();
  const both = addSummaries([made, made]);
  for (const [name, value] of Object.entries(addTotals(made.byModel))) {
    const sums = addTotals(both.byModel);
    assert.is(sums[name as keyof typeof sums], 2 * value, name);
  }
  assert.is(both.byDay.length, made.byDay.length);
  assert.equal(addSummaries([]), { byModel: [], byDay: [] });
});

test('sums unknown to this version are left out, and missing ones are 0', async () => {
  const json = summaryJson(await summary());
  const newer = JSON.parse(JSON.stringify(json).replaceAll('{"requests"', '{"hops":3,"requests"'));
  assert.equal(summaryFrom(newer), await summary());
});

const SUMS = { requests: 2, input_tokens: 5 };
const NONSENSE: readonly unknown[] = [
  {},
  { by_model: [] },
  { by_model: {}, by_day: {} },
  { by_model: [null], by_day: [null] },
  { by_model: [{ model: 'a' }], by_day: [] },
  ...[
    { requests: '2' },
    { requests: 0 },
    { requests: 1.5 },
    { requests: -1 },
    { requests: 1e300 },
    { requests: null },
    { ...SUMS, input_tokens: -5 },
    { ...SUMS, latency_sum_ms: 'x' },
    { ...SUMS, cost_nano_usd: 0.5 },
    'many',
  ].map((sums) => ({ by_model: [{ model: 'a', sums }], by_day: [{ date: '2026-11-20', sums }] })),
  { by_model: [{ model: 7, sums: SUMS }], by_day: [{ date: '2026-11-20', sums: SUMS }] },
  {
    by_model: [{ model: 'x'.repeat(5000), sums: SUMS }],
    by_day: [{ date: '2026-11-20', sums: SUMS }],
  },
  { by_model: [{ model: 'a', sums: SUMS }], by_day: [{ date: 'yesterday', sums: SUMS }] },
  { by_model: [{ model: 'a', sums: SUMS }], by_day: [] },
  {
    by_model: [{ model: 'a', sums: SUMS }],
    by_day: [{ date: '2026-11-20', sums: { ...SUMS, input_tokens: 6 } }],
  },
];

for (const json of NONSENSE)
  test(`${JSON.stringify(json).slice(0, 100)} is not a summary`, () => {
    assert.is(summaryFrom(json as object), undefined);
  });

test.run();
