/**
 * `/dashboard`: an empty page for anyone, data only for authorised readers, and events that end
 * with their reader.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { addToTotals, emptyTotals, roundedMs } from '../../stages/ledger/figures.ts';
import type { RunningTotals } from '../../stages/ledger/figures.ts';
import { totalsJson } from '../../stages/ledger/report.ts';
import { requestJson } from '../../stages/ledger/request-json.ts';
import { isFailure } from '../../stages/ledger/row.ts';
import type {
  ConversationsJson,
  LiveLog,
  LiveRows,
  LiveState,
  ReportJson,
  OneRequestJson,
  RequestsJson,
} from '../dashboard/contract.ts';
import { MAX_VIEWERS } from '../dashboard/feed.ts';
import { SHELL } from '../dashboard/shell.ts';
import { CHAT, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';

const KEY = `svc_${'k'.repeat(43)}`;

async function ask(t: TestProxy, model = 'gpt-4o', headers: object = {}): Promise<void> {
  const response = await fetch(`${t.proxy.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer mine', ...headers },
    body: json(CHAT, { model }),
  });
  await response.text();
}

async function getJson<T>(t: TestProxy, path: string): Promise<T> {
  const response = await fetch(`${t.proxy.url}${path}`);
  assert.is(response.status, 200, path);
  return (await response.json()) as T;
}

/** Reads events until `wanted` is satisfied. */
async function readEvents(
  t: TestProxy,
  isWanted: (event: string, data: string) => boolean,
  opened: () => Promise<void> = async () => undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), 120_000);
  const response = await fetch(`${t.proxy.url}/dashboard/events`, {
    signal: abort.signal,
    headers,
  });
  assert.is(response.status, 200);
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let isOpen = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      assert.not(done, 'the stream continues');
      text += decoder.decode(value, { stream: true });
      if (!isOpen) {
        isOpen = true;
        await opened();
      }
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [first = '', second = ''] = text.slice(0, end).split('\n');
        text = text.slice(end + 2);
        if (isWanted(first.replace('event: ', ''), second.replace('data: ', ''))) return;
      }
    }
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

test('the page contains no data and no inline script, and loads only its own files', () =>
  withProxy({}, async (t) => {
    await ask(t, 'secret-model');
    await t.rows(1);
    for (const path of ['/dashboard', '/dashboard/', '/dashboard/requests', '/dashboard/a/b%2fc']) {
      const { status, headers, text } = await exchange(t.proxy.port, { path, method: 'GET' });
      assert.is(status, 200, path);
      const policy = String(headers['content-security-policy']);
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.not.match(policy, /unsafe|http/);
      assert.is(headers['x-content-type-options'], 'nosniff');
      assert.not.match(text, /secret-model|<script>|<style|style=|onload|https?:/);
      const loaded = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url);
      assert.equal(loaded.slice(0, 3), [
        '/dashboard/icon.svg',
        '/dashboard/app.css',
        '/dashboard/app.js',
      ]);
    }
    const script = await exchange(t.proxy.port, { path: '/dashboard/app.js', method: 'GET' });
    assert.match(script.headers['content-type'] ?? '', /^text\/javascript/);
    assert.ok(script.body.length > 10_000);
    const style = await exchange(t.proxy.port, { path: '/dashboard/app.css', method: 'GET' });
    assert.match(style.headers['content-type'] ?? '', /^text\/css/);
    assert.not.match(style.text, /url\(|@import/);
    const none = await exchange(t.proxy.port, { path: '/dashboard/api/nothing', method: 'GET' });
    assert.is(none.status, 404);
  }));

test('no spelling of a path reaches a file of the disk', () =>
  withProxy({}, async (t) => {
    const ups = ['..', '%2e%2e', '%2E.', '..%2f', '..%5c', '%252e%252e', '....//', '.%00.', '..;'];
    const files = ['package.json', 'etc/passwd', 'server/app.ts', 'app.js'];
    for (const up of ups)
      for (const file of files)
        for (const path of [
          `/dashboard/${up}/${up}/${file}`,
          `/dashboard/app.js/${up}/${file}`,
          `/dashboard//${up}/${file}?raw??`,
        ]) {
          const { status, text } = await exchange(t.proxy.port, { path, method: 'GET' });
          assert.ok(status === 200 ? text === SHELL : status >= 400 && status < 500, path);
        }
  }));

test('a link from another site opens the empty page and nothing else', () =>
  withProxy({}, async (t) => {
    const from = (path: string, mode: string, dest: string) =>
      exchange(t.proxy.port, {
        path,
        method: 'GET',
        headers: {
          'sec-fetch-site': 'cross-site',
          'sec-fetch-mode': mode,
          'sec-fetch-dest': dest,
        },
      });
    assert.is((await from('/dashboard/requests', 'navigate', 'document')).status, 200);
    for (const path of ['/dashboard/events', '/dashboard/api/requests']) {
      assert.is((await from(path, 'navigate', 'document')).status, 401, path);
      assert.is((await from(path, 'no-cors', 'script')).status, 401, path);
      assert.is((await from(path, 'cors', 'empty')).status, 401, path);
    }
    assert.is((await from('/dashboard', 'navigate', 'iframe')).status, 401);
  }));

test('requests are those of the ledger, with filters applied', () =>
  withProxy({}, async (t) => {
    const none = await getJson<RequestsJson>(t, '/dashboard/api/requests');
    assert.equal(none, { requests: [], complete: true });
    for (const model of ['gpt-4o', 'gpt-4o-mini', 'o3']) await ask(t, model);
    const healthy = t.upstream.script(undefined, 'status', { status: 400 });
    await ask(t, 'gpt-4o');
    healthy();
    const rows = await t.rows(4);
    const all = await getJson<RequestsJson>(t, '/dashboard/api/requests');
    assert.equal(all.requests, JSON.parse(JSON.stringify(rows.toReversed().map(requestJson))));
    assert.is(all.complete, true);
    const models = async (query: string) =>
      (await getJson<RequestsJson>(t, `/dashboard/api/requests?${query}`)).requests.map(
        ({ model_requested: model }) => model,
      );
    assert.equal(await models('model=GPT-4O-'), ['gpt-4o-mini']);
    assert.equal(await models('failed=1'), ['gpt-4o']);
    assert.equal(await models('provider=messages'), []);
    assert.equal(await models('limit=2'), ['gpt-4o', 'o3']);
    assert.equal(await models('since=2999-01-01'), []);
    assert.equal(await models('q=MINI%20ok'), ['gpt-4o-mini'], 'every word occurs');
    assert.equal(await models(`q=${rows[2]!.id.slice(4, 14)}`), ['o3'], 'part of an id');
    assert.equal(await models('q=nothing-has-this'), []);
    assert.equal(await models('sort=model&order=asc'), ['gpt-4o', 'gpt-4o', 'gpt-4o-mini', 'o3']);
    assert.equal(await models('sort=model'), ['o3', 'gpt-4o-mini', 'gpt-4o', 'gpt-4o']);
    // Rows without the figure are last in both orders.
    for (const order of ['asc', 'desc'])
      assert.is((await models(`sort=output_tokens&order=${order}`)).at(-1), 'gpt-4o', order);
    assert.equal(await models('sort=timestamp&order=asc&offset=1&limit=2'), ['gpt-4o-mini', 'o3']);
    for (const query of [
      'sort=prompt',
      'order=up',
      'offset=-1',
      'since=yesterday',
      'outcome=fine',
      'limit=0',
      'limit=10001',
      'limit=x',
    ]) {
      const response = await fetch(`${t.proxy.url}/dashboard/api/requests?${query}`);
      assert.is(response.status, 400, query);
      assert.match(await response.text(), /VALIDATION_003/);
    }
  }));

test('the report equals a recount of the ledger, and filters apply to every figure', () =>
  withProxy({}, async (t) => {
    const empty = await getJson<ReportJson>(t, '/dashboard/api/report');
    assert.equal([empty.totals.requests, empty.latency.p50_ms, empty.series], [0, null, []]);
    assert.is(empty.totals.saved_percent, null, 'unmeasured is null');
    for (let n = 0; n < 7; n += 1) await ask(t, n % 2 === 0 ? 'gpt-4o' : 'gpt-4o-mini');
    const healthy = t.upstream.script(undefined, 'status', { status: 400 });
    await ask(t);
    await ask(t);
    healthy();
    const rows = await t.rows(9);
    for (const [query, expected] of [
      ['', rows],
      ['model=mini', rows.filter((row) => (row.model ?? row.modelRequested)?.includes('mini'))],
      ['failed=1', rows.filter(isFailure)],
      ['provider=messages', []],
      ['q=mini', rows.filter((row) => row.modelRequested?.includes('mini'))],
      ['project=none', []],
      ['key=none', []],
    ] as const) {
      const report = await getJson<ReportJson>(t, `/dashboard/api/report?${query}`);
      const totals = expected.reduce<RunningTotals>((sums, row) => {
        addToTotals(sums, row);
        return sums;
      }, emptyTotals());
      const { cancelled, streamed, ...same } = report.totals;
      assert.equal(same, JSON.parse(JSON.stringify(totalsJson(totals))), query);
      assert.equal([cancelled, streamed], [totals.cancelled, totals.streamed], query);
      const latencies = expected.flatMap((row) => row.latencyMs ?? []).toSorted((a, b) => a - b);
      for (const [name, share] of [
        ['p50_ms', 0.5],
        ['p95_ms', 0.95],
        ['p99_ms', 0.99],
      ] as const) {
        const rank = Math.max(0, Math.ceil(share * latencies.length) - 1);
        const latencyMs = roundedMs(latencies[rank] ?? null);
        assert.is(report.latency[name], latencyMs, `${query} ${name}`);
      }
      const inSeries = report.series.reduce((sum, step) => sum + step.requests, 0);
      assert.is(inSeries, expected.length, query);
      for (const groups of [report.by_model, report.by_provider, report.by_client])
        assert.is(
          groups.reduce((sum, group) => sum + group.requests, 0),
          expected.length,
          query,
        );
      const failed = expected.filter(isFailure);
      assert.equal(
        report.failures.map(({ status, requests, client, clients, last_request_id: last }) => [
          status,
          requests,
          client,
          clients,
          last,
        ]),
        failed.length === 0 ? [] : [[400, 2, failed[0]!.client, 1, failed.at(-1)!.id]],
        query,
      );
    }
  }));

test('a request has its row and trace, and conversations are the sessions that clients name', () =>
  withProxy({}, async (t) => {
    for (const session of ['s1', 's2', 's1']) await ask(t, 'gpt-4o', { 'x-session-id': session });
    await ask(t);
    const rows = await t.rows(4);
    const { id } = rows[0]!;
    const details = await getJson<OneRequestJson>(t, `/dashboard/api/request/${id}`);
    assert.is(details.request?.request_id, id);
    assert.is(details.trace?.request_id, id);
    for (const wrong of ['nobody', id.slice(0, -1), '..%2f..', `${id}'--`])
      assert.is((await fetch(`${t.proxy.url}/dashboard/api/request/${wrong}`)).status, 404, wrong);
    const { conversations } = await getJson<ConversationsJson>(t, '/dashboard/api/conversations');
    assert.is(conversations.length, 2);
    const named = rows.flatMap(({ sessionId }) => sessionId ?? []);
    assert.equal(
      conversations.map((one_) => [one_.session_id, one_.requests]),
      [...new Set(named.toReversed())].map((name) => [
        name,
        named.filter((other) => other === name).length,
      ]),
    );
  }));

test('the log is shown only on this machine', () =>
  withProxy({ yaml: `security: { api_key: ${KEY} }` }, async (t) => {
    const healthy = t.upstream.script(undefined, 'status', { status: 400 });
    await ask(t);
    healthy();
    await t.rows(1);
    let log = '';
    await readEvents(t, (event, data) => {
      if (event === 'log') log += data;
      return log.includes('request failed');
    });
    const { lines } = JSON.parse(log) as LiveLog;
    assert.ok(lines.every((line) => typeof JSON.parse(line) === 'object'));
    const events: string[] = [];
    await readEvents(
      t,
      (event) => events.push(event) >= 3,
      async () => {
        await ask(t);
      },
      { 'x-forwarded-for': '10.0.0.1', 'x-svc-key': KEY },
    );
    assert.not.ok(events.includes('log'));
  }));

test('events carry the state, and each request when it ends', () =>
  withProxy({}, async (t) => {
    const seen: string[] = [];
    await readEvents(
      t,
      (event, data) => {
        seen.push(event);
        if (event === 'state') {
          const { health, session, caches, providers, running } = JSON.parse(data) as LiveState;
          assert.is(health.status, 'ok');
          assert.type(session.requests, 'number');
          assert.is(caches.compression_cache.hits, 0);
          assert.ok('chat' in providers);
          assert.type(running, 'number');
        }
        if (event !== 'rows') return false;
        const { requests, skipped } = JSON.parse(data) as LiveRows;
        assert.is(requests[0]?.model, 'gpt-fixture-1');
        assert.is(skipped, 0);
        return seen.includes('state');
      },
      () => ask(t, 'gpt-fixture-1'),
    );
  }));

test('a disconnected reader is removed, and one beyond the limit is refused with the reason', () =>
  withProxy({}, async (t) => {
    const aborts: AbortController[] = [];
    // A response without a reference may be garbage-collected, and its connection with it.
    const held: Response[] = [];
    const open = async (): Promise<number> => {
      const abort = new AbortController();
      aborts.push(abort);
      const response = await fetch(`${t.proxy.url}/dashboard/events`, { signal: abort.signal });
      held.push(response);
      return response.status;
    };
    for (let n = 0; n < MAX_VIEWERS; n += 1) assert.is(await open(), 200);
    assert.is(await open(), 503);
    for (const abort of aborts) abort.abort();
    const untilMs = Date.now() + 120_000;
    while ((await open()) !== 200) {
      assert.ok(Date.now() < untilMs, 'places are free again');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    aborts.at(-1)?.abort();
    assert.ok(held.length > MAX_VIEWERS);
  }));

test('the dashboard does not use up the rate limit of agents', () =>
  withProxy({ yaml: 'security: { rate_limit_per_minute: 3 }' }, async (t) => {
    for (let n = 0; n < 8; n += 1) await getJson(t, '/dashboard/api/requests');
    await ask(t);
    assert.is((await t.rows(1))[0]?.status, 200);
  }));

test('an open dashboard does not delay a stop', async () => {
  // A stop must not wait for the stream, which its client never ends.
  await withProxy({}, async (t) => {
    const response = await fetch(`${t.proxy.url}/dashboard/events`);
    assert.is(response.status, 200);
    void response.body?.getReader().read();
  });
});

test.after(closeClients);
test.run();
