/** The commands that read the ledger, compared with a recount of the same rows. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  NOW,
  clock,
  dayOf,
  expectSums,
  json,
  rows,
  sum,
  today,
  withReports,
} from '../../fixtures/cli/reports.ts';
import type { Json } from '../../fixtures/cli/reports.ts';
import { openIn } from '../../fixtures/ledger/temp-ledger.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import { isFailure, ledgerRow } from '../../stages/ledger/row.ts';
import { exitCodes } from '../exit.ts';

test('stats: shows today and the total', () =>
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

test('savings --misses: dollars by cause, the most expensive first, with a remedy', () =>
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

test('models, usage and cost-breakdown: every grouping', () =>
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

test('timeline, cost and report: include days without requests', () =>
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

test('attribution and leaderboard group by each dimension', () =>
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

test('invalid options are reported with the valid values', () =>
  withReports(async (place) => {
    for (const [argv, message] of [
      [['models', '--since', 'yesterday'], /not an ISO 8601 date/],
      [['usage', '--since', '2026-02-01', '--until', '2026-01-01'], /not after/],
      [['timeline', '--days', '0'], /from 1 to 366/],
      [['timeline', '--metric', 'joy'], /not one of requests, errors/],
      [['attribution', '--by', 'mood'], /not one of agent, skill/],
      [['attribution', '--by', 'tool,session'], /not recorded by session/],
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

test('tables have headings, a dash for unknown figures, and a message without a ledger', async () => {
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
    assert.match(costs.stdout, /provider +model +sent +output/, 'both show the same figure');
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

test('names in Markdown are escaped: no image, no link, no extra column', () =>
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

test.run();
