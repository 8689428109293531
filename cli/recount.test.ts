/**
 * A day of mixed requests, and every figure that a surface shows of it against a recount of the
 * ledger made here: equal to the last digit. `SVC_RECOUNT=10000` sets how many; 1,500 by default.
 */
import { dirname } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeContext, makePlace } from '../fixtures/cli/run.ts';
import { runCli } from './run.ts';
import { startTestProxy } from '../fixtures/proxy.ts';
import type { TestProxy } from '../fixtures/proxy.ts';
import { createRandom, randomInt } from '../fixtures/random.ts';
import { isFailure } from '../stages/ledger/row.ts';
import type { LedgerRow } from '../stages/ledger/row.ts';
import { CHAT, MESSAGE, closeClients, exchange } from '../fixtures/server/exchange.ts';

const COUNT = Number(process.env['SVC_RECOUNT'] ?? 1500);
const AT_ONCE = 16;

const YAML = `cache: { enabled: true }
compression: { threshold_tokens: 200 }
providers:
  messages: { pricing: { input_cost_per_1m_tokens: 3.07, output_cost_per_1m_tokens: 15.13 } }
`;

type Json = Readonly<Record<string, unknown>>;

/** Whole and streamed, two dialects, priced and not, large and small, refused, failed and kept answers. */
function requestOf(n: number): Parameters<typeof exchange>[1] {
  const random = createRandom(n % 997);
  const kind = randomInt(random, 0, 10);
  const stream = randomInt(random, 0, 2) === 1;
  const text = `Request ${randomInt(random, 0, 400)}`;
  if (kind < 3) {
    const body = { ...CHAT, stream, messages: [{ role: 'user', content: text }] };
    return { path: '/v1/chat/completions', body: JSON.stringify(body) };
  }
  if (kind === 3) return { body: '{"model": 7' };
  const failing = kind === 4 ? { 'x-upstream-scenario': 'no-such-scenario' } : {};
  const log = Array.from({ length: 60 }, () => '2026-11-01T10:00:07 INFO request done in 5 ms');
  const large = [
    { role: 'user', content: text },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1', content: log.join('\n') }],
    },
  ];
  const messages = kind > 7 ? large : [{ role: 'user', content: text }];
  const model = `claude-fixture-${1 + (n % 3)}`;
  const body = JSON.stringify({ ...MESSAGE, model, stream, messages, temperature: 0 });
  return { body, headers: failing };
}

async function sendAll(t: TestProxy): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < COUNT) {
      const n = next;
      next += 1;
      await exchange(t.proxy.port, requestOf(n));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const sum = (rows: readonly LedgerRow[], of: (row: LedgerRow) => number | null): number =>
  rows.reduce((total, row) => total + (of(row) ?? 0), 0);

/** Every figure by the names that the surfaces give it. */
function recount(rows: readonly LedgerRow[]) {
  const hasUsage = (row: LedgerRow) => row.inputTokensSent !== null || row.outputTokens !== null;
  const unpriced = rows.filter((row) => row.costNanoUsd === null && hasUsage(row)).length;
  const isPriceless = unpriced > 0 && rows.every((row) => row.costNanoUsd === null);
  const usd = (of: (row: LedgerRow) => number | null) => (isPriceless ? null : sum(rows, of) / 1e9);
  const saved = sum(rows, (row) => row.savedTokens);
  const added = sum(rows, (row) => row.addedTokens);
  return {
    requests: rows.length,
    errors: rows.filter(isFailure).length,
    input_tokens: sum(rows, (row) => row.inputTokensRaw),
    sent_input_tokens: sum(rows, (row) => row.inputTokensSent),
    saved_tokens: saved,
    output_tokens: sum(rows, (row) => row.outputTokens),
    tokens_added: added,
    net_tokens_saved: saved - added,
    cache_hits: rows.filter((row) => row.cacheHit).length,
    unpriced,
    cost: usd((row) => row.costNanoUsd),
    cost_saved: usd((row) => row.costSavedNanoUsd),
    cost_added: usd((row) => row.costAddedNanoUsd),
  };
}

/** What is shown of these figures is equal, and at least `most` of them are shown. */
function equal(printed: unknown, rows: readonly LedgerRow[], where: string, most: number): void {
  const expected = recount(rows);
  let compared = 0;
  for (const [name, value] of Object.entries(expected)) {
    if (!(name in (printed as Json))) continue;
    assert.is((printed as Json)[name], value, `${where}: ${name}`);
    compared += 1;
  }
  assert.ok(compared >= most, `${where}: ${compared} figures are shown`);
}

function group(rows: readonly LedgerRow[], of: (row: LedgerRow) => string | null) {
  const groups = new Map<string | null, LedgerRow[]>();
  for (const row of rows) groups.set(of(row), [...(groups.get(of(row)) ?? []), row]);
  return groups;
}

async function getJson(t: TestProxy, path: string): Promise<Json> {
  const { text, status } = await exchange(t.proxy.port, { path, method: 'GET' });
  assert.is(status, 200, path);
  return JSON.parse(text) as Json;
}

async function command(t: TestProxy, argv: readonly string[]): Promise<Json> {
  const place = makePlace();
  const env = { ...place.env, SVC_HOME: dirname(t.db) };
  const { context, pieces } = makeContext(place, { env });
  assert.is(await runCli([...argv, '--json'], context), 0, pieces.stderr);
  await new Promise((resolve) => setImmediate(resolve));
  place.dispose();
  return JSON.parse(pieces.stdout) as Json;
}

let t: TestProxy;
let rows: readonly LedgerRow[];

test.before(async () => {
  t = await startTestProxy({ yaml: YAML });
  await sendAll(t);
  rows = await t.rows(COUNT);
});
test.after(async () => {
  closeClients();
  await t.close();
});

test('the day has everything in it', () => {
  assert.is(rows.length, COUNT);
  const { errors, saved_tokens, cache_hits, unpriced, cost } = recount(rows);
  for (const [name, figure] of Object.entries({ errors, saved_tokens, cache_hits, unpriced, cost }))
    assert.ok(Number(figure) > 0, `${name}: ${figure}`);
});

test('/stats', async () => {
  const stats = await getJson(t, '/stats');
  equal(stats['session'], rows, 'session', 12);
  equal(stats['today'], rows, 'today', 12);
  const models = stats['by_model'] as Record<string, Json>;
  for (const [model, some] of group(rows, (row) => row.model)) {
    if (model !== null) equal(models[model], some, `model ${model}`, 8);
  }
});

test('/savings', async () => {
  const savings = await getJson(t, '/savings');
  const { requests, saved_tokens, cost_saved, cost_added, tokens_added, unpriced } = recount(rows);
  assert.is(savings['total_requests'], requests);
  assert.is(savings['total_tokens_saved'], saved_tokens);
  assert.is(savings['total_cost_saved_usd'], cost_saved);
  assert.is(savings['total_cost_added_usd'], cost_added);
  assert.is(savings['total_tokens_added'], tokens_added);
  assert.is(savings['unpriced'], unpriced);
});

test('/cache-stats', async () => {
  const { prompt_cache: cache } = await getJson(t, '/cache-stats');
  assert.is(
    (cache as Json)['read_tokens'],
    sum(rows, (row) => row.cacheReadTokens),
  );
  assert.is(
    (cache as Json)['creation_tokens'],
    sum(rows, (row) => row.cacheWriteTokens),
  );
});

test('/metrics', async () => {
  const { text } = await exchange(t.proxy.port, { path: '/metrics', method: 'GET' });
  const value = (name: string) =>
    Number(
      new RegExp(`^${name.replaceAll(/[{}"]/g, String.raw`\$&`)} (\\S+)$`, 'm').exec(text)?.[1],
    );
  const expected = recount(rows);
  assert.is(value('svc_requests_total'), expected.requests);
  assert.is(value('svc_errors_total'), expected.errors);
  assert.is(value('svc_tokens_input_total'), expected.input_tokens);
  assert.is(value('svc_tokens_sent_total'), expected.sent_input_tokens);
  assert.is(value('svc_tokens_saved_total'), expected.saved_tokens);
  assert.is(value('svc_tokens_output_total'), expected.output_tokens);
  assert.is(value('svc_response_cache_hits_total'), expected.cache_hits);
  assert.is(value('svc_requests_unpriced_total'), expected.unpriced);
  for (const [model, some] of group(rows, (row) => row.model)) {
    if (model === null) continue;
    assert.is(value(`svc_model_requests_total{model="${model}"}`), some.length);
    assert.is(
      value(`svc_model_tokens_saved_total{model="${model}"}`),
      recount(some).saved_tokens,
      model,
    );
  }
});

test('the dashboard', async () => {
  const report = await getJson(t, '/dashboard/api/report?range=24h');
  equal(report['totals'], rows, 'totals', 12);
  for (const [key, of] of [
    ['by_model', (row: LedgerRow) => row.model],
    ['by_provider', (row: LedgerRow) => row.provider],
  ] as const)
    for (const printed of report[key] as readonly (Json & { readonly name: string })[])
      equal(
        printed,
        rows.filter((row) => of(row) === printed.name),
        `${key} ${printed.name}`,
        8,
      );
  const steps = report['series'] as readonly Json[];
  for (const name of ['requests', 'input_tokens', 'saved_tokens', 'errors'] as const)
    assert.is(
      steps.reduce((total, step) => total + Number(step[name]), 0),
      recount(rows)[name],
      name,
    );
});

test('the commands', async () => {
  const { ever, today } = await command(t, ['stats']);
  equal(ever, rows, 'svc stats, ever', 10);
  equal(today, rows, 'svc stats, today', 10);
  const { models } = await command(t, ['models']);
  for (const printed of models as readonly (Json & { readonly model: string | null })[])
    equal(
      printed,
      rows.filter((row) => row.model === printed.model),
      `svc models ${printed.model}`,
      10,
    );
});

test.run();
