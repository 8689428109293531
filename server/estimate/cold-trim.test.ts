/**
 * Estimates of trimming at cold moments: equal to what a proxy leaves out of the same requests,
 * priced the same.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/index.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import { closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { SESSION_MODEL } from '../../fixtures/sessions.ts';
import { createPrices } from '../../stages/ledger/prices/prices.ts';
import { loadTokenCounter } from '../../stages/model/count-tokens.ts';
import { asRequest } from '../sessions/as-request.ts';
import { readSessionText } from '../sessions/read-file.ts';
import { bodyOf } from '../sessions/session.ts';
import { estimateSessions } from './estimate.ts';
import type { SessionGroup } from './sums.ts';

const MINUTE_MS = 60_000;
/** Requests in a session; each but the first has the result of a call. */
const REQUESTS = 16;
const START_MS = Date.UTC(2026, 0, 2);

/** Returns a text without repetition that no rule compresses. */
const prose = (n: number): string =>
  Array.from({ length: 60 }, (_, at) => `alpha${n}x${at * 7919} went to beta${at * 31 + n}.`).join(
    '\n',
  );

const inputOf = (n: number): object => ({ file_path: `/w/f${n}.txt` });
const callText = (n: number): string => JSON.stringify(inputOf(n));

interface Shape {
  /** Minutes before a request, by its index; one minute if absent. */
  readonly pauses?: Readonly<Record<number, number>>;
  /** Requests for which the provider's cache was empty. */
  readonly cold?: readonly number[];
  /** Cache writes have a lifetime of one hour. */
  readonly isForAnHour?: boolean;
  /** The model thought before its first call. */
  readonly isThinking?: boolean;
}

/** Returns the lines of a Claude Code session file. */
async function session({ pauses = {}, cold = [], isForAnHour = false, isThinking = false }: Shape) {
  const count = await loadTokenCounter('claude');
  // The system prompt and tools, which the session file does not contain, count as 1,000 tokens.
  let [total, before, atMs] = [1000, 0, START_MS];
  const lines = Array.from({ length: REQUESTS }, (_, n) => {
    atMs += MINUTE_MS * (pauses[n] ?? 1);
    const timestamp = new Date(atMs).toISOString();
    const text = n === 0 ? 'Mend the parser.' : prose(n);
    const result = { type: 'tool_result', tool_use_id: `t${n - 1}`, content: text };
    total += count(text) + (n === 0 ? 0 : count(callText(n)));
    const read = cold.includes(n) ? 0 : before;
    const usage = {
      input_tokens: 0,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: total - read,
      cache_creation: { ephemeral_1h_input_tokens: isForAnHour ? total - read : 0 },
      output_tokens: 9,
    };
    before = total;
    const shared = { sessionId: 's', timestamp };
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
    const call = { type: 'tool_use', id: `t${n}`, name: 'Read', input: inputOf(n) };
    const content = isThinking && n === 0 ? [thought, call] : [call];
    return [
      { ...shared, type: 'user', message: { role: 'user', content: n === 0 ? text : [result] } },
      {
        ...shared,
        type: 'assistant',
        message: { id: `m${n}`, role: 'assistant', model: SESSION_MODEL.claude, usage, content },
      },
    ];
  });
  return lines.flat().map((line) => JSON.stringify(line));
}

async function estimated(shape: Shape, coldTrimMs: number | null = 300_000): Promise<SessionGroup> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-cold-trim-test-'));
  try {
    writeFileSync(join(folder, 'a.jsonl'), (await session(shape)).join('\n'));
    const { groups } = await estimateSessions({
      folders: [folder],
      options: {
        mode: 'hybrid',
        maxChars: 120,
        thresholdTokens: 0,
        logBudgetTokens: 3500,
        longResultsTokens: 10_000,
        coldTrimMs,
      },
      prices: createPrices(),
      clock: systemClock,
      maxTimeMs: 60_000,
    });
    return groups[0]!;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns how many tokens a proxy leaves out of the same requests, sent at the same times. */
async function leftOut(shape: Shape): Promise<number> {
  const [conversation] = readSessionText((await session(shape)).join('\n'))!.conversations;
  const count = await loadTokenCounter('claude');
  const textsOf = (body: unknown): readonly string[] =>
    asRequest('messages', body)
      .original.blocks()
      .map(({ text }) => text);
  let [saved, nowMs] = [0, 0];
  const clock = { ...systemClock, wallMs: () => nowMs };
  const yaml = 'compression: { threshold_tokens: 0, cold_trim: on }';
  await withProxy({ yaml, clock }, async (t) => {
    for (const { items, atMs } of conversation!.requests) {
      nowMs = atMs!;
      const body = bodyOf(conversation!, items);
      await exchange(t.proxy.port, {
        path: '/v1/messages',
        body: json({ ...body, max_tokens: 9 }),
      });
      const sent = textsOf(JSON.parse(t.upstream.requests.at(-1)!.body.toString()));
      for (const [index, text] of textsOf(body).entries())
        if (text !== sent[index]) saved += count(text) - count(sent[index]!);
    }
  });
  return saved;
}

/** $3 per million tokens, as nano-dollars per token. */
const PLAIN = 3000;
const [READ, WRITTEN] = [PLAIN * 0.1, PLAIN * 1.25];

const isNear = (value: number, expected: number): void =>
  assert.ok(Math.abs(value - expected) < Math.abs(expected) / 100, `${value} is not ${expected}`);

test('the estimate leaves out the same results after a pause as a proxy does', async () => {
  const shape = { pauses: { 13: 6, 15: 40 }, cold: [13, 15] };
  const saved = await leftOut(shape);
  const group = await estimated(shape);
  assert.ok(saved > 5000, `${saved} tokens`);
  assert.is(group.savedTokens, saved);
  assert.equal([group.coldMoments, group.forgotten, group.askedAgain], [2, 5, 0]);
  assert.is((await estimated(shape, null)).savedTokens, 0);
});

test('leaves nothing out if a signed thought covers the old results, and counts that', async () => {
  const shape = { pauses: { 13: 6, 15: 40 }, cold: [13, 15], isThinking: true };
  assert.is(await leftOut(shape), 0);
  const group = await estimated(shape);
  assert.equal([group.savedTokens, group.coldMoments, group.boundMoments], [0, 0, 2]);
});

test('without a long enough pause nothing changes', async () => {
  const off = await estimated({ pauses: { 13: 5 } }, null);
  assert.equal(await estimated({ pauses: { 13: 5 } }), off);
  const shape = { pauses: { 13: 15 }, cold: [13] };
  assert.equal(await estimated(shape, 20 * MINUTE_MS), await estimated(shape, null));
  assert.ok((await estimated(shape)).costSavedNanoUsd > 0);
});

test('an omitted result saves its cache write once, and its cache reads in later requests', async () => {
  const shape = { pauses: { 13: 6 }, cold: [13] };
  const { savedTokens, costSavedNanoUsd, costNanoUsd, share } = await estimated(shape);
  // The same tokens were in three requests: one wrote them to the cache again, two read them.
  isNear(costSavedNanoUsd, (savedTokens / 3) * (WRITTEN + 2 * READ));
  assert.is(share!.median, costSavedNanoUsd / costNanoUsd);
});

test('if the cache had not expired, everything after the first change is charged as a write', async () => {
  const shape = { pauses: { 15: 6 } };
  const { savedTokens, costSavedNanoUsd, share } = await estimated(shape);
  const count = await loadTokenCounter('claude');
  let all = 0;
  for (let n = 1; n < REQUESTS - 1; n++) all += count(prose(n)) + count(callText(n + 1));
  assert.ok(savedTokens > 3000, `${savedTokens} tokens`);
  // The remaining results and calls before the newest one: a cache read without svc, a cache write
  // now.
  const rewritten = all - savedTokens;
  isNear(costSavedNanoUsd, savedTokens * READ - rewritten * (WRITTEN - READ));
  assert.ok(share!.lowest < 0, 'more expensive than without svc');
});

test('a cache with a lifetime of an hour is cold after an hour', async () => {
  const soon = { pauses: { 13: 30 }, isForAnHour: true };
  assert.equal(await estimated(soon), await estimated(soon, null));
  const late = { pauses: { 13: 61 }, cold: [13], isForAnHour: true };
  assert.ok((await estimated(late)).coldMoments === 1);
});

test.after(closeClients);
test.run();
