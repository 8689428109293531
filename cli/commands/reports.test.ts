/** The commands that read the ledger, against a recount of the same rows made here. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createRandom, randomInt } from '../../fixtures/random.ts';
import { systemClock } from '../../engine/clock.ts';
import { isFailure, ledgerRow } from '../../stages/ledger/row.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { openIn } from '../../fixtures/ledger/temp-ledger.ts';
import { toolSet } from '../../stages/model/tool-use.ts';
import { exitCodes } from '../exit.ts';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 20, 15, 30);
const clock = { ...systemClock, wallMs: () => NOW };

const TOOLS = toolSet(
  new Map([
    ['Bash', 500],
    ['mcp__github__list', 200],
  ]),
);

const toolResults = (tool: string) => ({ tool, calls: 2, failed: 1, tokens: 900, sentTokens: 300 });

/** Rows of forty days, with every figure missing somewhere. */
function makeRows(count: number): LedgerRow[] {
  const random = createRandom(11);
  const one = <T>(values: readonly T[]): T => values[randomInt(random, 0, values.length)]!;
  return Array.from({ length: count }, (_, n) => {
    const raw = one([null, 1000, 25_000]);
    const saved = raw === null ? null : one([0, 10, 400]);
    const model = one(['claude-a', 'claude-b', 'gpt-c', null]);
    const isPriced = model !== 'gpt-c' && raw !== null;
    return ledgerRow({
      id: `req_${String(n).padStart(4, '0')}`,
      startedMs: NOW - Math.floor((n / count) * 40 * DAY_MS),
      endpoint: '/v1/messages',
      outcome: one(['ok', 'ok', 'ok', 'error', 'cancelled', 'partial']),
      status: one([200, 200, 429, null]),
      provider: one(['messages', 'chat', null]),
      model,
      client: one(['claude-code', 'codex', null]),
      skill: one([null, null, 'review']),
      keyLabel: one([null, 'anna', 'ci']),
      project: one([null, 'shop', 'web']),
      stream: one([true, false]),
      inputTokensRaw: raw,
      inputTokensSent: raw === null ? null : raw - (saved ?? 0),
      savedTokens: saved,
      addedTokens: one([null, 5]),
      outputTokens: one([null, 70]),
      cacheReadTokens: one([null, 300]),
      costNanoUsd: isPriced ? 1_000_000 + n : null,
      costSavedNanoUsd: isPriced ? (saved ?? 0) * 1000 : null,
      costAddedNanoUsd: isPriced ? 100 : null,
      cacheMiss: one([null, null, 'pause', 'tools', 'first_request']),
      cacheMissedTokens: one([0, 900]),
      costCacheMissedNanoUsd: isPriced ? 5_000_000 + n : null,
      latencyMs: one([null, 12.5, 250]),
      cacheHit: one([true, false, false]),
      toolResults: one([null, [toolResults('Bash')], [toolResults('mcp__github__list')]]),
      toolDefinitionTokens: raw === null ? null : 700,
      costToolDefinitionsNanoUsd: isPriced ? 7000 : null,
      toolSet: raw === null ? null : TOOLS,
    });
  });
}

const rows = makeRows(600);

async function withReports(use: (place: Place) => Promise<void>): Promise<void> {
  const place = makePlace();
  const { writer } = openIn(place.folder, { file: join(place.home, 'monitor.db') });
  for (const row of rows) writer.record(row);
  await writer.close();
  try {
    await use(place);
  } finally {
    place.dispose();
  }
}

type Json = Readonly<Record<string, unknown>>;

async function json(place: Place, argv: readonly string[]): Promise<Json> {
  const ran = await run(place, [...argv, '--json'], { clock });
  assert.is(ran.code, 0, ran.stderr);
  return JSON.parse(ran.stdout) as Json;
}

const sum = (list: readonly LedgerRow[], of: (row: LedgerRow) => number | null) =>
  list.reduce((total, row) => total + (of(row) ?? 0), 0);

/** Every figure of a group that the commands show, counted here. */
function expectSums(printed: Json, list: readonly LedgerRow[], where: string): void {
  const priced = list.filter((row) => row.costNanoUsd !== null).length;
  const unpriced = list.filter(
    (row) =>
      row.costNanoUsd === null && (row.inputTokensSent !== null || row.outputTokens !== null),
  ).length;
  const isPriceless = priced === 0 && unpriced > 0;
  const cost = isPriceless ? null : sum(list, (row) => row.costNanoUsd) / 1e9;
  const saved = isPriceless ? null : sum(list, (row) => row.costSavedNanoUsd) / 1e9;
  const added = isPriceless ? null : sum(list, (row) => row.costAddedNanoUsd) / 1e9;
  const expected: Json = {
    requests: list.length,
    errors: list.filter(isFailure).length,
    input_tokens: sum(list, (row) => row.inputTokensRaw),
    sent_input_tokens: sum(list, (row) => row.inputTokensSent),
    saved_tokens: sum(list, (row) => row.savedTokens),
    tokens_added: sum(list, (row) => row.addedTokens),
    output_tokens: sum(list, (row) => row.outputTokens),
    cache_hits: list.filter((row) => row.cacheHit).length,
    cost,
    cost_saved: saved,
    cost_added: added,
    unpriced,
  };
  for (const [name, value] of Object.entries(expected))
    assert.is(printed[name], value, `${where}: ${name}`);
  if (cost === null) assert.is(printed['cost_without'], null, where);
  else
    assert.is(
      Math.round(Number(printed['cost_without']) * 1e9),
      Math.round((cost + saved! - added!) * 1e9),
      `${where}: cost_without`,
    );
}

const dayOf = (row: LedgerRow) => new Date(row.startedMs).toISOString().slice(0, 10);
const today = '2026-11-20';

test('stats: today and ever', () =>
  withReports(async (place) => {
    const printed = await json(place, ['stats']);
    assert.is(printed['session'], null, 'no proxy runs');
    expectSums(printed['ever'] as Json, rows, 'ever');
    expectSums(
      printed['today'] as Json,
      rows.filter((row) => dayOf(row) === today),
      'today',
    );
  }));

test('savings --misses: dollars by cause, the dearest first, with what helps', () =>
  withReports(async (place) => {
    const missed = rows.filter((row) => row.cacheMiss !== null);
    const printed = await json(place, ['savings', '--misses']);
    assert.is(printed['missed_requests'], missed.length);
    const causes = printed['causes'] as readonly Json[];
    assert.is(causes.length, 3);
    const costs = causes.map((cause) => Number(cause['cost_missed_usd']));
    assert.equal(
      costs,
      costs.toSorted((a, b) => b - a),
    );
    for (const { cause, requests, missed_tokens: tokens, cost_missed_usd: cost } of causes) {
      const own = missed.filter((row) => row.cacheMiss === cause);
      assert.is(requests, own.length);
      assert.is(
        tokens,
        sum(own, (row) => row.cacheMissedTokens),
      );
      assert.is(
        Math.round(Number(cost) * 1e9),
        sum(own, (row) => row.costCacheMissedNanoUsd),
      );
    }
    const shown = await run(place, ['savings', '--misses', '--since', '2026-11-01'], { clock });
    assert.is(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /Lost to missed prompt caches since 2026-11-01: \$/);
    assert.match(
      shown.stdout,
      /tools changed: connect and disconnect MCP servers between sessions/,
    );
    const both = await run(place, ['savings', '--misses', '--prefix'], { clock });
    assert.is(both.code, exitCodes.usage);
  }));

test('models, usage and cost-breakdown: every group', () =>
  withReports(async (place) => {
    const since = '2026-10-25';
    const inSpan = rows.filter((row) => dayOf(row) >= since);
    const { models } = await json(place, ['models', '--since', since]);
    assert.is((models as Json[]).length, 4);
    for (const group of models as Json[])
      expectSums(
        group,
        inSpan.filter((row) => row.model === group['model']),
        `model ${String(group['model'])}`,
      );
    const { models: some } = await json(place, ['models', '--detail', 'CLAUDE']);
    const names = (some as Json[]).map(({ model }) => String(model));
    assert.equal(new Set(names), new Set(['claude-a', 'claude-b']));
    const usage = await json(place, ['usage', '--since', since]);
    expectSums(usage['totals'] as Json, inSpan, 'usage');
    for (const group of usage['by_client'] as Json[])
      expectSums(
        group,
        inSpan.filter((row) => row.client === group['client']),
        `client ${String(group['client'])}`,
      );
    const { breakdown, total_cost: total } = await json(place, ['cost-breakdown']);
    assert.is(total, sum(rows, (row) => row.costNanoUsd) / 1e9);
    let shares = 0;
    for (const group of breakdown as Json[]) {
      shares += Number(group['share'] ?? 0);
      expectSums(
        group,
        rows.filter((row) => row.model === group['model'] && row.provider === group['provider']),
        'breakdown',
      );
    }
    assert.ok(Math.abs(shares - 1) < 1e-9);
  }));

test('timeline, cost and report: days, those without a request too', () =>
  withReports(async (place) => {
    const { days } = await json(place, ['timeline', '--days', '45']);
    assert.is((days as Json[]).length, 45);
    assert.is((days as Json[]).at(-1)?.['date'], today);
    for (const day of days as Json[])
      expectSums(
        day,
        rows.filter((row) => dayOf(row) === day['date']),
        String(day['date']),
      );
    const week = await json(place, ['cost', '--week']);
    assert.is((week['days'] as Json[]).length, 7);
    expectSums(
      week['total'] as Json,
      rows.filter((row) => dayOf(row) >= '2026-11-14'),
      'week',
    );
    const report = await json(place, ['report', '--date', '2026-11-10']);
    expectSums(
      report['day'] as Json,
      rows.filter((row) => dayOf(row) === '2026-11-10'),
      'report',
    );
    expectSums(
      report['day_before'] as Json,
      rows.filter((row) => dayOf(row) === '2026-11-09'),
      'day before',
    );
  }));

test('attribution and leaderboard', () =>
  withReports(async (place) => {
    const { attribution } = await json(place, ['attribution', '--by', 'agent,skill']);
    for (const group of attribution as Json[])
      expectSums(
        group,
        rows.filter((row) => row.client === group['agent'] && row.skill === group['skill']),
        'attribution',
      );
    assert.is(
      (attribution as Json[]).reduce((total, { requests }) => total + Number(requests), 0),
      rows.length,
    );
    const { attribution: owned } = await json(place, ['attribution', '--by', 'key,project']);
    for (const group of owned as Json[])
      expectSums(
        group,
        rows.filter((row) => row.keyLabel === group['key'] && row.project === group['project']),
        'attribution',
      );
    assert.ok((owned as Json[]).length > 4);
    const { leaderboard } = await json(place, ['leaderboard']);
    const percents = (leaderboard as Json[]).map((rank) => Number(rank['saved_percent'] ?? -1));
    assert.equal(
      percents,
      percents.toSorted((a, b) => b - a),
    );
    for (const rank of leaderboard as Json[]) {
      const list = rows.filter((row) => row.model === rank['model']);
      assert.is(rank['error_rate'], list.filter(isFailure).length / list.length);
    }
  }));

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

test('requests are newest first, in the table as in JSON', () =>
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

test('requests --follow prints what comes, in the same columns, until it is interrupted', () =>
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
      for (let tries = 0; !pattern.test(following.output.stdout); tries += 1) {
        assert.ok(tries < 4800 && following.child.exitCode === null, following.output.stdout);
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    };
    try {
      await until(/waiting for requests/);
      // It began before those that are listed, and ends now.
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

test('compare: the last request, one by its id, its beginning or end, and none', () =>
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

/** Fields of CSV, by RFC 4180. */
function readCsv(text: string): string[][] {
  return text
    .trimEnd()
    .split('\r\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
      ),
    );
}

test('a month: every line of the CSV and the sums of the page are a recount of the rows', () =>
  withReports(async (place) => {
    const of = (argv: readonly string[]) =>
      run(place, ['report', '--month', '2026-11', ...argv], { clock });
    const month = rows.filter((row) => dayOf(row).startsWith('2026-11'));
    const { code, stdout } = await of(['--by', 'project', '--csv']);
    assert.is(code, 0);
    const [head = [], ...lines] = readCsv(stdout);
    assert.equal(head.slice(0, 4), ['date', 'project', 'model', 'requests']);
    const seen = new Set<string>();
    for (const line of lines) {
      const at = (name: string) => line[head.indexOf(name)] ?? '?';
      const own = month.filter(
        (row) =>
          dayOf(row) === at('date') &&
          (row.project ?? 'unknown') === at('project') &&
          (row.model ?? 'unknown') === at('model'),
      );
      seen.add(line.slice(0, 3).join());
      assert.is(Number(at('requests')), own.length, line.join());
      assert.is(Number(at('errors')), own.filter(isFailure).length);
      assert.is(
        Number(at('saved_tokens')),
        sum(own, (row) => row.savedTokens),
      );
      // To the last digit of a nano-dollar.
      assert.is(
        Math.round(Number(at('cost_usd')) * 1e9),
        sum(own, (row) => row.costNanoUsd),
      );
    }
    assert.is(seen.size, lines.length);
    assert.is(
      lines.reduce((all, line) => all + Number(line[3]), 0),
      month.length,
    );
    const page = (await of(['--by', 'project', '--html'])).stdout;
    const cost = month.reduce((all, row) => all + (row.costNanoUsd ?? 0), 0) / 1e9;
    assert.match(page, `<dt>Cost</dt><dd>$${cost.toFixed(cost >= 1 ? 2 : 4)}</dd>`);
    assert.match(page, `<dt>Requests</dt><dd>${month.length.toLocaleString('en-US')}</dd>`);
    for (const project of ['shop', 'web', 'unknown']) assert.match(page, `<td>${project}</td>`);
    assert.match(page, 'The month is not over: up to 2026-11-20 15:30 UTC.');
    const days = [...page.matchAll(/<td>(2026-11-\d\d)<\/td>/g)].map(([, day]) => day);
    assert.is(days.length, 20);
    assert.is((await of(['--by', 'project', '--html'])).stdout, page, 'the same again');
    const json_ = JSON.parse((await of(['--by', 'key', '--json'])).stdout) as Json;
    assert.is((json_['totals'] as Json)['requests'], month.length);
    const keys = (json_['by_key'] as Json[]).map(({ key }) => key);
    assert.equal(new Set(keys), new Set(['anna', 'ci', null]));
  }));

test('a page of a month has nothing from elsewhere, and names in it are text', async () => {
  const place = makePlace();
  try {
    const { writer } = openIn(place.folder, { file: join(place.home, 'monitor.db') });
    const names = ['<script>alert(1)</script>', '=HYPERLINK("http://x")', 'a,"b"\n\u202ec'];
    names.forEach((name, n) =>
      writer.record(
        ledgerRow({
          id: `req_hostile_${n}`,
          startedMs: NOW,
          endpoint: '/v1/messages',
          outcome: 'ok',
          model: name,
          project: name,
          costNanoUsd: 1_234_567_891,
        }),
      ),
    );
    await writer.close();
    const of = async (form: string) =>
      (await run(place, ['report', '--month', '2026-11', '--by', 'project', form], { clock }))
        .stdout;
    const page = await of('--html');
    assert.not.match(page, /<script|<link|<img|<iframe|<a |@import|url\(|\bon\w+=|javascript:/i);
    assert.not.match(page.replaceAll('http://x', ''), /https?:/);
    assert.match(page, '&lt;script&gt;alert(1)&lt;/script&gt;');
    assert.not.match(page, '\u202e');
    assert.match(page, "default-src 'none'");
    const csv = await of('--csv');
    assert.match(csv, `,"'=HYPERLINK(""http://x"")",`);
    assert.match(csv, ',1.234567891,');
  } finally {
    place.dispose();
  }
});

test('attribution by tool and by MCP server', () =>
  withReports(async (place) => {
    const { attribution } = await json(place, ['attribution', '--by', 'mcp,project']);
    const groups = attribution as Json[];
    assert.is(groups.length, 6);
    for (const group of groups) {
      const tool = group['mcp'] === 'github' ? 'mcp__github__list' : 'Bash';
      const own = rows.filter((row) => row.project === group['project']);
      const results = own
        .flatMap((row) => row.toolResults ?? [])
        .filter((one) => one.tool === tool);
      const carried = own.filter((row) => row.toolSet !== null);
      const priced = carried.filter((row) => row.costToolDefinitionsNanoUsd !== null);
      const share = tool === 'Bash' ? 5 : 2;
      assert.equal(group, {
        mcp: group['mcp'],
        project: group['project'],
        calls: results.length * 2,
        failed_calls: results.length,
        result_tokens: results.length * 900,
        sent_result_tokens: results.length * 300,
        definitions: carried.length,
        definition_tokens: carried.length * 100 * share,
        definition_cost: (priced.length * 1000 * share) / 1e9,
      });
    }
    const none = await run(place, ['attribution', '--by', 'tool', '--since', '2999-01-01'], {
      clock,
    });
    assert.is(none.stdout, 'No tool was recorded (since 2999-01-01)\n');
    const { stdout } = await run(place, ['attribution', '--by', 'tool'], { clock });
    assert.match(stdout, /Bash .*mcp__github__list /s);
    assert.ok(
      stdout.split('\n').every((line) => line.length <= 80),
      stdout,
    );
  }));

test('wrong words are reported, with what would be right', () =>
  withReports(async (place) => {
    for (const [argv, message] of [
      [['models', '--since', 'yesterday'], /not an ISO 8601 date/],
      [['usage', '--since', '2026-02-01', '--until', '2026-01-01'], /not after/],
      [['timeline', '--days', '0'], /from 1 to 366/],
      [['timeline', '--metric', 'joy'], /not one of requests, errors/],
      [['attribution', '--by', 'mood'], /not one of agent, skill/],
      [['attribution', '--by', 'tool,session'], /not kept by session/],
      [['requests', '--outcome', 'fine'], /not one of ok, error/],
      [['report', '--date', 'today'], /not a day/],
      [['report', '--date', '2026-02-30'], /--date: "2026-02-30" is not a day/],
      [['report', '--month', '2026-13'], /--month: "2026-13" is not a month such as 2026-01/],
      [['report', '--month', '2026-12'], /--month: "2026-12" is not a month that has begun/],
      [['report', '--html'], /--by, --html and --csv need a --month/],
      [['report', '--month', '2026-11', '--by', 'session'], /not one of project, key/],
      [['report', '--month', '2026-11', '--html', '--csv'], /prints one of --html, --csv/],
    ] as const) {
      const ran = await run(place, argv, { clock });
      assert.is(ran.code, exitCodes.usage, argv.join(' '));
      assert.match(ran.stderr, message);
      assert.is(ran.stdout, '');
    }
  }));

test('tables for people: figures under heads, a dash for what is not known, and no ledger', async () => {
  await withReports(async (place) => {
    for (const argv of [
      ['stats'],
      ['models'],
      ['models', '--detail', 'claude-a'],
      ['usage'],
      ['compare'],
      ['leaderboard'],
      ['report'],
      ['report', '--markdown'],
      ['attribution'],
      ['attribution', '--by', 'tool,project'],
      ['timeline', '--days', '30', '--metric', 'cost'],
      ['cost', '--month'],
      ['cost-breakdown'],
      ['requests'],
    ]) {
      const ran = await run(place, argv, { clock });
      assert.is(ran.code, 0, argv.join(' '));
      assert.not.match(ran.stdout, /NaN|undefined|null|Infinity/, argv.join(' '));
      assert.ok(ran.stdout.split('\n').length > 3, argv.join(' '));
    }
    const costs = await run(place, ['cost-breakdown'], { clock });
    assert.match(costs.stdout, /provider +model +sent +output/, 'the figure that it shows');
    const chart = await run(place, ['timeline', '--metric', 'requests'], { clock });
    assert.match(chart.stdout, /2026-11-20 +\d+ +█/);
  });
  const place = makePlace();
  for (const name of ['stats', 'models', 'usage', 'compare', 'report', 'requests', 'timeline']) {
    const ran = await run(place, [name]);
    assert.is(ran.code, exitCodes.not_found, name);
    assert.match(ran.stderr, /There is no ledger/);
  }
  place.dispose();
});

test('a name is text in Markdown too: no image, no link, no other column', () =>
  withReports(async (place) => {
    const { writer } = openIn(place.folder, { file: join(place.home, 'monitor.db') });
    const names = [
      '<img src=//a.example>',
      '![x](//a.example)',
      'a\\|b',
      '__proto__',
      'gpt-4.1\nb',
    ];
    for (const [n, model] of names.entries())
      writer.record(
        ledgerRow({
          id: `req_odd${n}`,
          startedMs: NOW - 1,
          endpoint: '/v1/messages',
          outcome: 'ok',
          model,
        }),
      );
    await writer.close();
    const { stdout } = await run(place, ['report', '--markdown'], { clock });
    const expected = [
      String.raw`| \<img src=//a.example\> |`,
      String.raw`| !\[x\](//a.example) |`,
      String.raw`| a\\\|b |`,
      String.raw`| \_\_proto\_\_ |`,
      '| gpt-4.1 b |',
    ];
    for (const text of expected) assert.ok(stdout.includes(text), `${text} in ${stdout}`);
  }));

test('compare shows the local time with its zone', () =>
  withReports(async (place) => {
    const ask = (zone: string) => start(place, ['compare', 'req_0000'], { TZ: zone }).ended;
    assert.match((await ask('UTC')).stdout, /, 2026-11-20 15:30:00 UTC\n/);
    assert.match((await ask('Asia/Kolkata')).stdout, /, 2026-11-20 21:00:00 GMT\+5:30\n/);
  }));

test.run();
