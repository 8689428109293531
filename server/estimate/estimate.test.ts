/** Estimates over session files, compared with what a real proxy sends for the same requests. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/index.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import { closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import {
  COUNTED,
  LOG,
  SESSION_MODEL,
  claudeCodeLines,
  codexLines,
} from '../../fixtures/sessions.ts';
import { createPrices } from '../../stages/ledger/prices/prices.ts';
import { loadTokenCounter } from '../../stages/model/count-tokens.ts';
import { asRequest } from '../sessions/as-request.ts';
import { readSessionText } from '../sessions/read-file.ts';
import { bodyOf } from '../sessions/session.ts';
import { estimateSessions } from './estimate.ts';
import type { EstimateReport } from './estimate.ts';

const OPTIONS = {
  longResultsTokens: 10_000,
  mode: 'hybrid',
  maxChars: 120,
  thresholdTokens: 4500,
  logBudgetTokens: 3500,
} as const;

async function estimated(
  files: Readonly<Record<string, readonly string[]>>,
  more: object = {},
): Promise<EstimateReport> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-estimate-test-'));
  try {
    for (const [name, lines] of Object.entries(files))
      writeFileSync(join(folder, name), lines.join('\n'));
    return await estimateSessions({
      folders: [folder],
      options: OPTIONS,
      prices: createPrices(),
      clock: systemClock,
      maxTimeMs: 60_000,
      ...more,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const INPUT = COUNTED.flat().reduce<number>((sum, tokens) => sum + tokens, 0);

/** A code file that no `hybrid` rule compresses. */
const CODE = Array.from(
  { length: 700 },
  (_, n) =>
    `export function handler${n}(request: Request, limit: number) { return answerTo(request, ${n * 7} + limit); }`,
).join('\n');

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Returns the session with a code file in place of its log. */
const withCode = (lines: readonly string[]): readonly string[] =>
  lines.map((line) =>
    line
      .replaceAll(inJson(LOG), inJson(CODE))
      .replaceAll('cat app.log', 'cat handlers.ts')
      .replaceAll('tail -500 app.log', 'git show HEAD:handlers.ts'),
  );

/** Returns how many tokens a proxy with default settings leaves out of a session's requests. */
async function leftOut(lines: readonly string[]): Promise<number> {
  let saved = 0;
  const [conversation] = readSessionText(lines.join('\n'))!.conversations;
  const count = await loadTokenCounter('claude');
  const textsOf = (body: unknown): readonly string[] =>
    asRequest('messages', body)
      .original.blocks()
      .map(({ text }) => text);
  await withProxy({}, async (t) => {
    for (const { items } of conversation!.requests) {
      const body = bodyOf(conversation!, items);
      await exchange(t.proxy.port, { path: '/v1/messages', body: json(body) });
      const sent = textsOf(JSON.parse(t.upstream.requests.at(-1)!.body.toString()));
      for (const [index, text] of textsOf(body).entries())
        if (text !== sent[index]) saved += count(text) - count(sent[index]!);
    }
  });
  return saved;
}

test('the estimate saves the same tokens as a proxy does for the same requests', async () => {
  const log = claudeCodeLines({ isSent: true });
  for (const lines of [log, withCode(log)]) {
    const saved = await leftOut(lines);
    const { groups } = await estimated({ 'a.jsonl': lines });
    assert.ok(saved > 5000, `${saved} tokens`);
    assert.is(groups[0]!.savedTokens, saved);
    assert.is(groups[0]!.inputTokens, INPUT);
  }
});

test('tool definitions are counted as a proxy sends them while trimming is on', async () => {
  const title = (line: string): string =>
    line.replaceAll('{"type":"string"}', '{"title":"Command","type":"string"}');
  const lines = claudeCodeLines({ isSent: true }).map(title);
  const [conversation] = readSessionText(lines.join('\n'))!.conversations;
  const count = await loadTokenCounter('claude');
  const sizeOf = (body: unknown): number =>
    (body as { tools: { description: string; input_schema: unknown }[] }).tools
      .map((tool) => count(`${tool.description}\n${JSON.stringify(tool.input_schema)}`))
      .reduce((sum, tokens) => sum + tokens);
  let left = 0;
  await withProxy({ yaml: 'compression:\n  tools: trim\n' }, async (t) => {
    for (const { items } of conversation!.requests) {
      const body = bodyOf(conversation!, items);
      await exchange(t.proxy.port, { path: '/v1/messages', body: json(body) });
      left += sizeOf(body) - sizeOf(JSON.parse(t.upstream.requests.at(-1)!.body.toString()));
    }
  });
  assert.ok(left > 20, `${left} tokens`);
  const saved = async (tools: 'off' | 'trim', mode: 'hybrid' | 'strict' = 'hybrid') => {
    const { groups } = await estimated(
      { 'a.jsonl': lines },
      { options: { ...OPTIONS, mode, tools } },
    );
    return groups[0]!.savedTokens;
  };
  assert.is((await saved('trim')) - (await saved('off')), left);
  assert.is(await saved('trim', 'strict'), 0);
});

test('a saving is priced as a cache write when new and as a cache read afterwards', async () => {
  const { groups } = await estimated({ 'a.jsonl': claudeCodeLines() });
  const [all] = groups;
  const usdPerToken = 3e-6;
  const rate = ([plain, read, written]: readonly number[]) =>
    (plain! + read! * 0.1 + written! * 1.25) * usdPerToken * 1e9;
  const cost = COUNTED.reduce((sum, counts) => sum + rate(counts), 0);
  assert.ok(Math.abs(all!.costNanoUsd - cost) < 5, `${all!.costNanoUsd} is not ${cost}`);
  const perToken = all!.costSavedNanoUsd / all!.savedTokens / (usdPerToken * 1e9);
  // Two requests each write it to the cache once, and the last one reads it.
  assert.ok(perToken > 0.6 && perToken < 1.25, `${perToken} of the price of input`);
  assert.is(all!.share?.median, all!.costSavedNanoUsd / all!.costNanoUsd);
  const strict = await estimated(
    { 'a.jsonl': claudeCodeLines() },
    { options: { ...OPTIONS, mode: 'strict' } },
  );
  assert.is(strict.groups[0]!.savedTokens, 0);
  assert.is(strict.groups[0]!.costSavedNanoUsd, 0);
});

test('sums are grouped by client and session length, and a copied conversation counts once', async () => {
  const again = claudeCodeLines().map((line) =>
    line.replaceAll('"sessionId":"s-1"', '"sessionId":"s-2"'),
  );
  const { groups, files, conversations } = await estimated({
    'a.jsonl': claudeCodeLines(),
    'b.jsonl': again,
    'c.jsonl': claudeCodeLines({ session: 's-3' }),
    'd.jsonl': codexLines(),
  });
  assert.is(files, 4);
  assert.is(conversations, 3);
  const groupsOf = (client: string) => groups.filter((group) => group.client === client);
  assert.equal(
    groupsOf('claude-code').map(({ length, sessions, requests }) => [
      length?.from,
      sessions,
      requests,
    ]),
    [
      [undefined, 2, 6],
      [1, 2, 6],
    ],
  );
  assert.is(groupsOf('codex')[0]!.inputTokens, INPUT);
});

test('requests without usage or a price are left out and counted', async () => {
  const bare = claudeCodeLines().map((line) => line.replaceAll('"usage"', '"used"'));
  const unpriced = claudeCodeLines({ session: 'x' }).map((line) =>
    line.replaceAll(SESSION_MODEL.claude, 'some-model-of-ours'),
  );
  const { groups } = await estimated({ 'a.jsonl': bare, 'b.jsonl': unpriced });
  const [all] = groups;
  assert.is(all!.requests, 6);
  assert.is(all!.uncounted, 3);
  assert.is(all!.unpriced, 3);
  assert.is(all!.inputTokens, INPUT);
  assert.ok(all!.savedTokens > 0);
  assert.is(all!.costNanoUsd, 0);
  assert.is(all!.share, null);
});

test('unreadable files are listed, and the time limit applies between two files', async () => {
  const lines = claudeCodeLines();
  const { failed, files } = await estimated({ 'a.jsonl': lines, 'b.jsonl': ['no JSON'] });
  assert.is(files, 1);
  assert.equal(
    failed.map(({ path, reason }) => [path.slice(-7), reason]),
    [['b.jsonl', 'not a session file of a known client']],
  );
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => (nowMs += 400) };
  const some = { 'a.jsonl': lines, 'b.jsonl': lines, 'c.jsonl': lines };
  const short = await estimated(some, { clock, maxTimeMs: 500 });
  assert.is(short.files + short.left, 3);
  assert.is(short.left, 2);
});

test.after(closeClients);
test.run();
