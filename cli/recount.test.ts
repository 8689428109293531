/**
 * A day of mixed requests: every figure shown anywhere equals, to the last digit, an independent
 * recount of the ledger. `SVC_RECOUNT=10000` sets the number of requests; 1,500 by default.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeContext, makePlace } from '../fixtures/cli/run.ts';
import { runCli } from './run.ts';
import { startTestProxy } from '../fixtures/proxy.ts';
import type { TestProxy } from '../fixtures/proxy.ts';
import { createRandom, randomInt } from '../fixtures/random.ts';
import { isFailure } from '../stages/ledger/row.ts';
import type { LedgerRow } from '../stages/ledger/row.ts';
import {
  dayOf,
  group,
  latencyOf,
  recount,
  recountLanes,
  sum,
  usdOf,
} from '../fixtures/ledger/recount.ts';
import { CHAT, MESSAGE, closeClients, exchange } from '../fixtures/server/exchange.ts';

const COUNT = Number(process.env['SVC_RECOUNT'] ?? 1500);
const AT_ONCE = 16;

// A fast machine sends more requests per minute than the default limit allows.
const YAML = `security: { rate_limit_per_minute: 0 }
cache: { enabled: true }
audit: { enabled: true }
compression: { threshold_tokens: 200, long_results_tokens: 1000, tools: trim }
providers:
  messages: { pricing: { input_cost_per_1m_tokens: 3.07, output_cost_per_1m_tokens: 15.13 } }
`;

type Json = Readonly<Record<string, unknown>>;

/** The tool with which a model can fetch the rest of a shortened file. */
const READ = {
  name: 'Read',
  description: 'Reads a file.  Paths are absolute.\n\n        The rest can be asked for in parts. ',
  input_schema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    title: 'ReadArguments',
    properties: Object.fromEntries(
      ['file_path', 'offset', 'limit'].map((name) => [name, { type: 'number' }]),
    ),
  },
};

/** A file of about 3,000 tokens, as read by a coding agent. */
function longFile(tag: number): string {
  const lines = Array.from({ length: 60 }, (_, at) => [
    `/** Works on part ${tag} in its step ${at}. */`,
    `export function part${tag}Step${at}(input: string, count = ${at}): string {`,
    `  if (!input.includes('${tag * 7919 + at}')) throw new Error('no ${at * 31} in it');`,
    '}',
    '',
  ]).flat();
  return lines.map((line, at) => `${String(at + 1).padStart(6)}→${line}`).join('\n');
}

/**
 * Whole and streamed, two dialects, priced and not, large and small, refused, failed and cached
 * responses.
 */
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
  const isLong = kind === 9;
  const called = isLong
    ? { name: 'Read', input: { file_path: `/w/part-${n % 13}.ts` } }
    : { name: 'Bash', input: {} };
  const result = isLong ? longFile(n % 13) : log.join('\n');
  const large = [
    { role: 'user', content: text },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', ...called }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: result }] },
  ];
  const tools = isLong ? { tools: [READ] } : {};
  const messages = kind > 7 ? large : [{ role: 'user', content: text }];
  const model = `claude-fixture-${1 + (n % 3)}`;
  const body = JSON.stringify({ ...MESSAGE, model, stream, messages, ...tools, temperature: 0 });
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

/** Checks that all shown figures are equal, and that at least `max` of them are shown. */
function equal(printed: unknown, rows: readonly LedgerRow[], where: string, max: number): void {
  const expected = recount(rows);
  let compared = 0;
  for (const [name, value] of Object.entries(expected)) {
    if (!(name in (printed as Json))) continue;
    assert.is((printed as Json)[name], value, `${where}: ${name}`);
    compared += 1;
  }
  assert.ok(compared >= max, `${where}: ${compared} figures are shown`);
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

test('the simulated day covers every case', () => {
  assert.is(rows.length, COUNT);
  const { errors, saved_tokens, cache_hits, unpriced, cost } = recount(rows);
  const { long_results: parts, tools } = recountLanes(rows);
  const [inParts, trimmed] = [parts.requests, tools.tokens_saved];
  const inIt = { errors, saved_tokens, cache_hits, unpriced, cost, inParts, trimmed };
  for (const [name, figure] of Object.entries(inIt))
    assert.ok(Number(figure) > 0, `${name}: ${figure}`);
});

test('/stats equals the recount', async () => {
  const stats = await getJson(t, '/stats');
  equal(stats['session'], rows, 'session', 12);
  equal(stats['today'], rows, 'today', 12);
  const models = stats['by_model'] as Record<string, Json>;
  for (const [model, some] of group(rows, (row) => row.model)) {
    if (model !== null) equal(models[model], some, `model ${model}`, 8);
  }
});

test('/savings equals the recount', async () => {
  const savings = await getJson(t, '/savings');
  const { requests, saved_tokens, cost_saved, cost_added, tokens_added, unpriced } = recount(rows);
  assert.is(savings['total_requests'], requests);
  assert.is(savings['total_tokens_saved'], saved_tokens);
  assert.is(savings['total_cost_saved_usd'], cost_saved);
  assert.is(savings['total_cost_added_usd'], cost_added);
  assert.is(savings['total_tokens_added'], tokens_added);
  assert.is(savings['unpriced'], unpriced);
  assert.equal(savings['lanes'], recountLanes(rows));
  const equalGroups = (shown: unknown, of: (row: LedgerRow) => string) => {
    for (const [name, some] of Object.entries(shown as Record<string, Json>)) {
      const expected = recount(rows.filter((row) => of(row) === name));
      assert.is(some['requests'], expected.requests, name);
      assert.is(some['tokens_saved'], expected.saved_tokens, name);
      assert.is(some['cost_saved_usd'], expected.cost_saved, name);
      assert.is(some['net_tokens_saved'], expected.net_tokens_saved, name);
    }
  };
  equalGroups(savings['savings_by_model'], (row) => row.model ?? 'unknown');
  equalGroups(savings['savings_by_date_7d'], dayOf);
  assert.equal(await command(t, ['savings']), savings);
});

test('/health, /stats/session, /stats/last and /recent equal the recount', async () => {
  const expected = recount(rows);
  equal((await getJson(t, '/health'))['stats'], rows, 'health', 12);
  const session = await getJson(t, '/stats/session');
  assert.is(session['session_requests'], expected.requests);
  assert.is(session['session_total_saved'], expected.cost_saved);
  assert.is(session['tokens_saved'], expected.saved_tokens);
  assert.is(session['tokens_sent'], expected.sent_input_tokens);
  assert.is(session['tokens_raw'], expected.input_tokens);
  assert.is(session['output_tokens'], expected.output_tokens);
  assert.is(session['total_cost'], expected.cost);
  assert.is(session['errors'], expected.errors);
  const { recent } = (await getJson(t, '/recent')) as { readonly recent: readonly Json[] };
  assert.is(recent.length, 50);
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const shown of [...recent, await getJson(t, '/stats/last')]) {
    const row = byId.get(String(shown['request_id']))!;
    assert.is(shown['tokens_saved'], row.savedTokens, row.id);
    assert.is(shown['input_tokens'] ?? shown['input_tokens_raw'] ?? null, row.inputTokensRaw);
    assert.is(
      shown['sent_input_tokens'] ?? shown['input_tokens_sent'] ?? null,
      row.inputTokensSent,
    );
    assert.is(shown['output_tokens'], row.outputTokens);
    if ('cost' in shown) assert.is(shown['cost'], usdOf(row.costNanoUsd));
    assert.is(shown['cost_saved'], usdOf(row.costSavedNanoUsd));
  }
});

test('/metrics/dashboard equals the recount', async () => {
  const shown = (await getJson(t, '/metrics/dashboard')) as Readonly<Record<string, Json>>;
  const expected = recount(rows);
  assert.is(shown['requests']!['total'], expected.requests);
  assert.is(shown['errors']!['error_count'], expected.errors);
  assert.is(shown['errors']!['error_rate'], expected.errors / expected.requests);
  assert.equal(
    { ...(shown['errors']!['top_failures'] as Json) },
    Object.fromEntries(
      [...group(rows.filter(isFailure), (row) => String(row.status ?? 'none'))].map(
        ([status, some]) => [status, some.length],
      ),
    ),
  );
  const streams = rows.filter(({ stream }) => stream).length;
  assert.is(shown['streaming']!['count'], streams);
  assert.is(shown['window_24h']!['input_tokens'], expected.input_tokens);
  assert.is(shown['window_24h']!['output_tokens'], expected.output_tokens);
  assert.is(shown['window_24h']!['total_cost'], expected.cost);
  assert.is(
    shown['cache']!['read_tokens'],
    sum(rows, (row) => row.cacheReadTokens),
  );
});

test('/cache-stats equals the recount', async () => {
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

test('/metrics equals the recount', async () => {
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

test('the dashboard equals the recount', async () => {
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
  assert.equal(report['lanes'], recountLanes(rows));
  const latency = report['latency'] as Json;
  for (const [name, share] of [
    ['p50_ms', 0.5],
    ['p95_ms', 0.95],
    ['p99_ms', 0.99],
  ] as const)
    assert.is(latency[name], latencyOf(rows, share), name);
  const failures = report['failures'] as readonly Json[];
  assert.is(
    failures.reduce((total, cause) => total + Number(cause['requests']), 0),
    recount(rows).errors,
  );
  const steps = report['series'] as readonly Json[];
  for (const name of ['requests', 'input_tokens', 'saved_tokens', 'errors'] as const)
    assert.is(
      steps.reduce((total, step) => total + Number(step[name]), 0),
      recount(rows)[name],
      name,
    );
});

test('the live state of the monitor and the dashboard equals the recount', async () => {
  const response = await fetch(`${t.proxy.url}/dashboard/events`);
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of response.body!) {
    text += decoder.decode(piece, { stream: true });
    if (/^event: state\ndata: .*\n\n/m.test(text)) break;
  }
  const data = /^event: state\ndata: (.*)\n\n/m.exec(text)?.[1] ?? '{}';
  const state = JSON.parse(data) as Readonly<Record<string, Json>>;
  equal(state['session'], rows, 'state', 12);
  equal(state['health']!['stats'], rows, 'state health', 12);
});

test('the audit log equals the recount', async () => {
  const requests = () =>
    readFileSync(join(dirname(t.db), 'audit.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Json)
      .filter(({ kind }) => kind === 'request');
  while (requests().length < COUNT) await new Promise((resolve) => setTimeout(resolve, 20));
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const shown of requests()) {
    const row = byId.get(String(shown['id']))!;
    assert.is(shown['input_tokens'], row.inputTokensRaw, row.id);
    assert.is(shown['sent_input_tokens'], row.inputTokensSent, row.id);
    assert.is(shown['output_tokens'], row.outputTokens, row.id);
    assert.is(shown['tokens_saved'], row.savedTokens, row.id);
    assert.is(shown['cost_nano_usd'], row.costNanoUsd, row.id);
  }
  assert.is(requests().length, COUNT);
});

test('the commands equal the recount', async () => {
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
  const usage = await command(t, ['usage']);
  equal(usage['totals'], rows, 'svc usage', 12);
  for (const shown of usage['by_provider'] as readonly Json[])
    equal(
      shown,
      rows.filter((row) => row.provider === shown['provider']),
      'svc usage',
      12,
    );
  const { attribution } = await command(t, ['attribution', '--by', 'agent,model']);
  for (const shown of attribution as readonly Json[]) {
    const isOne = (row: LedgerRow) => row.client === shown['agent'] && row.model === shown['model'];
    equal(shown, rows.filter(isOne), 'svc attribution', 12);
  }
  for (const argv of [['timeline'], ['cost', '--week']])
    for (const shown of (await command(t, argv))['days'] as readonly Json[])
      equal(
        shown,
        rows.filter((row) => dayOf(row) === shown['date']),
        argv.join(' '),
        12,
      );
  equal((await command(t, ['cost', '--week']))['total'], rows, 'svc cost', 12);
  const { day } = await command(t, ['report', '--date', dayOf(rows[0]!)]);
  const onDay = rows.filter((row) => dayOf(row) === dayOf(rows[0]!));
  equal(day, onDay, 'svc report', 12);
  const { breakdown, total_cost: total } = await command(t, ['cost-breakdown']);
  assert.is(total, recount(rows).cost);
  for (const shown of breakdown as readonly Json[]) {
    const isOne = (row: LedgerRow) =>
      row.provider === shown['provider'] && row.model === shown['model'];
    equal(shown, rows.filter(isOne), 'svc cost-breakdown', 12);
  }
  for (const shown of (await command(t, ['leaderboard']))['leaderboard'] as readonly Json[]) {
    const some = rows.filter((row) => row.model === shown['model']);
    equal(shown, some, 'svc leaderboard', 3);
    assert.is(shown['error_rate'], recount(some).errors / some.length);
  }
  const { requests } = await command(t, ['requests', '-n', String(COUNT)]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const shown of requests as readonly Json[]) {
    const row = byId.get(String(shown['request_id']))!;
    assert.is(shown['tokens_saved'], row.savedTokens);
    assert.is(shown['cost'], usdOf(row.costNanoUsd));
  }
  assert.is((requests as readonly Json[]).length, COUNT);
});

test.run();
