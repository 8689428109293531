/**
 * A day of a team: 10,000 requests with five keys for four projects, at two proxies with one
 * Postgres and one Redis; one proxy is killed in the middle. Every figure shown equals, to the last
 * digit, a recount of the provider's own record with independent arithmetic.
 *
 * Requests in flight at the kill: an interrupted response has no row, and its client retries;
 * responses read less than the guaranteed 100 ms before may have lost their row, though the
 * provider bills them. `SVC_RECOUNT=2000` sends fewer requests.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GROUPS, groupBy, sums, toolSums } from '../../fixtures/money/day-recount.ts';
import type { Counted, Group } from '../../fixtures/money/day-recount.ts';
import { liveDay } from '../../fixtures/money/day-team.ts';
import type { Day } from '../../fixtures/money/day-team.ts';
import { until } from '../../fixtures/wait.ts';
import { mcpServerOf } from '../../stages/model/tool-use.ts';

const COUNT = Number(process.env['SVC_RECOUNT'] ?? 10_000);
const NODES = ['one', 'two'] as const;
const MONTH = new Date().toISOString().slice(0, 7);

type Json = Readonly<Record<string, unknown>>;

let day: Day;

test.before(async () => {
  day = await liveDay(COUNT);
});
test.after(() => day.close());

const json = async (...argv: string[]): Promise<Json> =>
  JSON.parse(await day.svc('one', ...argv, '--json')) as Json;
const get = async (node: 'one' | 'two', path: string): Promise<Json> =>
  JSON.parse(await day.get(node, path)) as Json;

/**
 * Checks that all shown figures equal the recount's, and that at least `max` of them are shown.
 */
function equal(shown: Json, wanted: Json, where: string, max: number): void {
  let compared = 0;
  for (const [name, value] of Object.entries(wanted)) {
    if (!(name in shown)) continue;
    assert.is(shown[name], value, `${where}: ${name}`);
    compared += 1;
  }
  assert.ok(compared >= max, `${where}: ${compared} figures are shown`);
}

/** Checks that the groups in a list are exactly those of the recount, and equal. */
function equalList(
  list: unknown,
  name: string,
  some: readonly Counted[],
  of: Group,
  where: string,
  max = 6,
): void {
  const groups = groupBy(some, of);
  const shown = list as readonly Json[];
  assert.is(shown.length, groups.size, `${where}: groups`);
  for (const one of shown) {
    const own = groups.get(one[name] as string | null);
    assert.ok(own, `${where}: ${String(one[name])}`);
    equal(one, sums(own), `${where} ${String(one[name])}`, max);
  }
}

function equalTools(list: unknown, name: string, wanted: ReturnType<typeof toolSums>): void {
  const shown = list as readonly Json[];
  assert.is(shown.length, wanted.size, name);
  for (const { [name]: named, ...figures } of shown)
    assert.equal(figures, wanted.get(named as string | null), `${name} ${String(named)}`);
}

test('the simulated day covers every case, and shows the cost of the kill', () => {
  const { requests, errors, unpriced, cost } = sums(day.all);
  assert.is(requests, COUNT - day.lost);
  assert.ok(errors > 0 && unpriced > 0 && cost! > 0);
  for (const [by, least] of [
    ['key', 5],
    ['project', 4],
    ['model', 7],
    ['node', 2],
  ] as const)
    assert.ok(groupBy(day.all, GROUPS[by]!).size >= least, by);
  assert.ok(day.seenBy('two').length > 0, 'the proxy that was killed serves again');
  process.stdout.write(
    `${COUNT} requests, $${cost!.toFixed(2)}: at the kill ${day.broken} broke off, ${day.lost} rows were lost\n`,
  );
});

test('svc export equals the recount, as JSON and as CSV', async () => {
  const ofRow = (name: string) => (row: Json) => row[name] as string | null;
  for (const [name, of] of [
    ['key', GROUPS['key']!],
    ['project', GROUPS['project']!],
    ['model', GROUPS['model']!],
    ['node', GROUPS['node']!],
  ] as const) {
    const groups = new Map<string | null, Json[]>();
    for (const row of day.rows) {
      const found = groups.get(ofRow(name)(row)) ?? [];
      found.push(row);
      groups.set(ofRow(name)(row), found);
    }
    for (const [key, own] of groupBy(day.all, of)) {
      const some = groups.get(key) ?? [];
      assert.is(some.length, own.length, `${name} ${key}`);
      const nano = some.reduce((sum, row) => sum + Math.round(Number(row['cost_usd']) * 1e9), 0);
      const { cost } = sums(own);
      assert.is(nano / 1e9, cost ?? 0, `${name} ${key}`);
    }
  }
  // Each row on its own, as in the CSV, with all digits.
  const lines = csvOf(await day.svc('one', 'export', '--csv'));
  assert.is(lines.length, day.all.length);
  for (const line of lines) {
    const own = day.of(line['request_id']!)!;
    const { key, project, model } = own.request;
    assert.equal([line['key'], line['project'], line['model']], [key, project ?? '', model]);
    const usd = line['cost_usd']!;
    const nano = usd === '' ? undefined : nanoOf(usd);
    assert.is(nano, own.isError ? undefined : own.nano, JSON.stringify(line));
  }
});

/** Returns lines by the names in their header (RFC 4180). */
function csvOf(text: string): readonly Readonly<Record<string, string>>[] {
  const [head = [], ...lines] = text
    .trimEnd()
    .split('\r\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
      ),
    );
  return lines.map((line) => Object.fromEntries(head.map((name, at) => [name, line[at] ?? ''])));
}

/** Converts decimal dollars to whole nano-dollars. */
function nanoOf(usd: string): bigint {
  const [whole = '', rest = ''] = usd.split('.');
  assert.ok(rest.length <= 9, usd);
  return BigInt(whole + rest.padEnd(9, '0'));
}

test('svc attribution equals the recount, for each dimension', async () => {
  for (const [by, of] of Object.entries(GROUPS)) {
    const { attribution } = await json('attribution', '--by', by);
    equalList(attribution, by, day.all, of, `--by ${by}`, 7);
  }
  const { attribution: both } = await json('attribution', '--by', 'key,project');
  const pairs = groupBy(day.all, ({ request }) => JSON.stringify([request.key, request.project]));
  for (const one of both as readonly Json[])
    equal(one, sums(pairs.get(JSON.stringify([one['key'], one['project']]))!), 'key,project', 7);
  const tools = await json('attribution', '--by', 'tool');
  equalTools(
    tools['attribution'],
    'tool',
    toolSums(day.all, (tool) => tool),
  );
  const servers = await json('attribution', '--by', 'mcp');
  equalTools(servers['attribution'], 'mcp', toolSums(day.all, mcpServerOf));
});

test('/stats of both proxies: today of all machines, and what each has seen since its start', async () => {
  for (const node of NODES) {
    const stats = (await get(node, '/stats')) as Readonly<Record<string, Json>>;
    const seen = day.seenBy(node);
    equal(stats['today']!, sums(day.all), `${node} today`, 7);
    const ofNode = day.all.filter((one) => one.node === node);
    equal(stats['today_of_node']!, sums(ofNode), `${node} today of node`, 7);
    equal(stats['session']!, sums(seen), `${node} session`, 7);
    for (const dimension of ['key', 'project', 'model'] as const) {
      const groups = groupBy(seen, GROUPS[dimension]!);
      for (const [name, some] of groups)
        if (name !== null)
          equal(
            stats[`by_${dimension}`]![name] as Json,
            sums(some),
            `${node} ${dimension} ${name}`,
            5,
          );
    }
    const tools = toolSums(seen, (tool) => tool);
    assert.equal(entries(stats['by_tool']!), entries(Object.fromEntries(tools)), `${node} by tool`);
    const servers = toolSums(seen, mcpServerOf);
    servers.delete(null);
    assert.equal(entries(stats['by_mcp_server']!), entries(Object.fromEntries(servers)), node);
  }
});

const entries = (object: object) =>
  Object.entries(object as Json).toSorted(([a], [b]) => (a < b ? -1 : 1));

test('/metrics of both proxies equal the recount', async () => {
  for (const node of NODES) {
    const text = await day.get(node, '/metrics');
    const series = new Map(
      text.split('\n').map((line) => {
        const cut = line.lastIndexOf(' ');
        return [line.slice(0, cut), Number(line.slice(cut + 1))] as const;
      }),
    );
    const seen = day.seenBy(node);
    const own = sums(seen);
    assert.is(series.get('svc_requests_total'), own.requests);
    assert.is(series.get('svc_cost_usd_total'), own.cost);
    assert.is(series.get('svc_requests_unpriced_total'), own.unpriced);
    for (const dimension of ['key', 'project', 'model'] as const)
      for (const [name, some] of groupBy(seen, GROUPS[dimension]!)) {
        if (name === null) continue;
        const figureOf = (figure: string) =>
          series.get(`svc_${dimension}_${figure}_total{${dimension}="${name}"}`);
        const { requests, errors, input_tokens: input, output_tokens: output, cost } = sums(some);
        assert.equal(
          [
            figureOf('requests'),
            figureOf('errors'),
            figureOf('tokens_input'),
            figureOf('tokens_output'),
            figureOf('cost_usd') ?? null,
          ],
          [requests, errors, input, output, cost],
          `${node} ${dimension} ${name}`,
        );
      }
    for (const [tool, wanted] of toolSums(seen, (name) => name)) {
      const server = mcpServerOf(tool!);
      const labels = `{tool="${tool}"${server === null ? '' : `,server="${server}"`}}`;
      const figureOf = (figure: string) => series.get(`svc_tool_${figure}_total${labels}`);
      assert.equal(
        [
          figureOf('calls'),
          figureOf('failed_calls'),
          figureOf('result_tokens'),
          figureOf('definition_tokens'),
          figureOf('definition_cost_usd'),
        ],
        [
          wanted.calls,
          wanted.failed_calls,
          wanted.result_tokens,
          wanted.definition_tokens,
          wanted.definition_cost,
        ],
        `${node} ${tool}`,
      );
    }
  }
});

test('svc spend status equals the recount, by key and by project', async () => {
  for (const dimension of ['key', 'project'] as const) {
    const { spending } = (await json('spend', 'status', '--by', dimension)) as {
      readonly spending: readonly { name: string; day: Json; month: Json }[];
    };
    const groups = groupBy(day.all, GROUPS[dimension]!);
    groups.delete(null);
    assert.is(spending.length, groups.size, dimension);
    for (const { name, day: today, month } of spending) {
      const { cost } = sums(groups.get(name)!);
      assert.equal([today['spent_usd'], month['spent_usd']], [cost, cost], `${dimension} ${name}`);
    }
  }
});

test('svc report of the month equals the recount, as JSON and as CSV', async () => {
  for (const dimension of ['key', 'project', 'agent', 'node'] as const) {
    const report = await json('report', '--month', MONTH, '--by', dimension);
    equal(report['totals'] as Json, sums(day.all), 'totals', 7);
    equalList(
      report[`by_${dimension}`],
      dimension,
      day.all,
      GROUPS[dimension]!,
      `month by ${dimension}`,
      7,
    );
    equalList(report['by_model'], 'model', day.all, GROUPS['model']!, 'month by model', 7);
    const csv = await day.svc('one', 'report', '--month', MONTH, '--by', dimension, '--csv');
    const pairs = groupBy(
      day.all,
      (one) => `${GROUPS[dimension]!(one) ?? 'unknown'},${one.request.model}`,
    );
    const found = new Map<string, { requests: number; nano: bigint }>();
    for (const line of csvOf(csv)) {
      const name = `${line[dimension]},${line['model']}`;
      const before = found.get(name) ?? { requests: 0, nano: 0n };
      const usd = line['cost_usd']!;
      found.set(name, {
        requests: before.requests + Number(line['requests']),
        nano: before.nano + (usd === '' ? 0n : nanoOf(usd)),
      });
    }
    assert.is(found.size, pairs.size);
    for (const [name, some] of pairs) {
      const nano = some.reduce((sum, one) => sum + (one.nano ?? 0n), 0n);
      assert.equal(found.get(String(name)), { requests: some.length, nano }, String(name));
    }
  }
});

test('the dashboard equals the recount', async () => {
  for (const node of NODES) {
    const report = await get(node, '/dashboard/api/report');
    equal(report['totals'] as Json, sums(day.all), 'totals', 7);
    equalList(report['by_model'], 'name', day.all, GROUPS['model']!, 'by model', 7);
    equalList(report['by_client'], 'name', day.all, GROUPS['agent']!, 'by agent', 7);
    for (const [by, of] of [
      ['key', 'key'],
      ['project', 'project'],
      ['model', 'model'],
      ['client', 'agent'],
    ] as const) {
      const { stacks } = (await get(node, `/dashboard/api/stacks?by=${by}`)) as {
        readonly stacks: readonly Json[];
      };
      const groups = groupBy(day.all, GROUPS[of]!);
      for (const stack of stacks.filter(({ rest }) => rest !== true)) {
        const {
          requests,
          cost,
          sent_input_tokens: input,
        } = sums(groups.get(stack['name'] as string)!);
        assert.equal(
          [stack['requests'], stack['cost'], stack['sent_input_tokens']],
          [requests, cost, input],
          `${by} ${String(stack['name'])}`,
        );
      }
      const shown = stacks.reduce((sum, { requests }) => sum + Number(requests), 0);
      assert.is(shown, day.all.length, `stacks by ${by}`);
    }
    const { tools, mcp_servers: servers } = await get(node, '/dashboard/api/tools');
    equalTools(
      tools,
      'name',
      toolSums(day.all, (tool) => tool),
    );
    const named = toolSums(day.all, mcpServerOf);
    named.delete(null);
    equalTools(servers, 'name', named);
    for (const project of ['shop', 'billing']) {
      const { totals } = await get(node, `/dashboard/api/report?project=${project}`);
      equal(totals as Json, sums(groupBy(day.all, GROUPS['project']!).get(project)!), project, 7);
    }
  }
});

test('the audit logs of both proxies equal the recount', async () => {
  const events = () =>
    day.homes.flatMap((home) =>
      readFileSync(join(home, 'audit.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Json)
        .filter(({ kind }) => kind === 'request'),
    );
  const seen = new Map<string, Json>();
  await until('what was seen since the start is audited', () => {
    for (const event of events()) seen.set(String(event['id']), event);
    return NODES.every((node) => day.seenBy(node).every(({ id }) => seen.has(id)));
  });
  assert.is(events().length, seen.size, 'each once');
  for (const [id, event] of seen) {
    const own = day.of(id);
    // A killed proxy may have audited requests that are not in the ledger, or the reverse.
    if (own === undefined) continue;
    const { key, project, model, results } = own.request;
    assert.equal(
      [event['key'], event['project'], event['model'], event['cost_nano_usd']],
      [key, project, model, own.isError || own.nano === undefined ? null : Number(own.nano)],
      id,
    );
    const tools = own.isError ? 0 : new Set(results.map(({ tool }) => tool)).size;
    assert.is((event['tools'] as readonly string[] | null)?.length ?? 0, tools, id);
  }
});

test.run();
