/** The ledger's sums by tool equal those of its rows, each counted once, and outlive them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createRandom, randomInt } from '../../../fixtures/random.ts';
import { folderForEach, rowOf } from '../../../fixtures/ledger/temp-ledger.ts';
import { toolName, toolSet } from '../../model/tool-use.ts';
import { openLedgerReader } from '../sqlite/database.ts';
import { createSessionWindow } from '../window.ts';
import { toolSums } from './tool-sums.ts';
import type { ToolKey } from './tool-sums.ts';

const { open } = folderForEach(test);
const DAY_MS = 86_400_000;

const random = createRandom(35);
const upTo = (max: number) => randomInt(random, 0, max);
const pick = <T>(...of: readonly T[]): T => of[upTo(of.length)]!;

const SETS = [
  toolSet(
    new Map([
      ['Bash', 812],
      ['mcp__a__b', 97],
      ["o'hara", 1],
    ]),
  ),
  toolSet(
    new Map([
      ['Bash', 3],
      ['ärger', 1_000_003],
    ]),
  ),
  toolSet(new Map()),
];

const rows = Array.from({ length: 400 }, (_, n) =>
  rowOf(n, {
    startedMs: Date.UTC(2026, 10, 20) + upTo(3 * DAY_MS),
    model: pick('m', null),
    toolResults: pick(null, [
      {
        tool: pick('Bash', 'Read'),
        calls: 2,
        failed: 1,
        tokens: upTo(9000),
        sentTokens: upTo(500),
      },
      { tool: 'mcp__a__b', calls: 1, failed: 0, tokens: upTo(9000), sentTokens: upTo(500) },
    ]),
    toolDefinitionTokens: pick(null, upTo(90_000)),
    costToolDefinitionsNanoUsd: pick(null, upTo(900_000_000_000)),
    toolSet: pick(null, ...SETS),
  }),
);

async function sums(file: string, keys: readonly ToolKey[], sinceMs = 0, untilMs = Infinity) {
  const reader = openLedgerReader(file);
  try {
    return await toolSums(reader, keys, { sinceMs, ...(untilMs < Infinity && { untilMs }) });
  } finally {
    await reader.destroy();
  }
}

/** Returns the same sums from the window, which adds up rows as they arrive. */
function recount(of: typeof rows) {
  const window = createSessionWindow(0);
  for (const row of of) window.add(row);
  return Object.fromEntries([...window.byTool()].map(([tool, all]) => [tool, rounded(all)]));
}

/** Rounds sums of fractions to a billionth, since the order of addition differs. */
const rounded = (totals: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(totals).map(([name, value]) => [name, Number(value.toPrecision(9))]),
  );

const byName = (groups: Awaited<ReturnType<typeof sums>>) =>
  Object.fromEntries(groups.map(({ keys: [tool], totals }) => [tool, rounded(totals)]));

test('the sums equal those of the rows, even if rows were sent twice or deleted', async () => {
  const { writer, file, errors } = open();
  for (const row of rows) writer.record(row);
  await writer.flush();
  assert.equal(byName(await sums(file, ['tool'])), recount(rows));
  for (const row of rows.slice(0, 170)) writer.record(row);
  await writer.flush();
  assert.is(await writer.prune(Date.UTC(2027, 0, 1)), rows.length);
  await writer.close();
  assert.equal(errors, []);
  assert.equal(byName(await sums(file, ['tool'])), recount(rows));
  const ofModel = await sums(file, ['tool', 'model']);
  const ofModelM = ofModel.filter(({ keys }) => keys[1] === 'm');
  assert.equal(byName(ofModelM), recount(rows.filter(({ model }) => model === 'm')));
  const [, server] = await sums(file, ['mcp']);
  assert.equal(
    [server?.keys, server && rounded(server.totals)],
    [['a'], recount(rows)['mcp__a__b']],
  );
});

test('a span is extended to whole UTC days', async () => {
  const { writer, file } = open();
  for (const row of rows) writer.record(row);
  await writer.close();
  const [from, upto] = [Date.UTC(2026, 10, 21), Date.UTC(2026, 10, 22)];
  const day = rows.filter(({ startedMs }) => startedMs >= from && startedMs < upto);
  for (const [since, until] of [
    [from, upto],
    [from + 1, upto - 1],
  ] as const)
    assert.equal(byName(await sums(file, ['tool'], since, until)), recount(day));
});

test('a name is shortened and cleaned of characters that a database or a screen refuses', () => {
  for (const [name, shown] of [
    ['mcp__a__b', 'mcp__a__b'],
    ['', 'unknown'],
    ['a b\u0000\ud800\n', 'a_b___'],
    ['工具', '工具'],
    ['x'.repeat(500), 'x'.repeat(128)],
    [`${'x'.repeat(127)}😀`, `${'x'.repeat(127)}_`],
  ] as const)
    assert.is(toolName(name), shown);
});

test.run();
