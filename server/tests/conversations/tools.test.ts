/**
 * Tokens of tool results and definitions, by tool and by MCP server, in the ledger and wherever
 * sums are shown.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dollarsFor } from '../../../fixtures/money/tables.ts';
import { withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import type { PlainUpstream } from '../../../fixtures/plain-upstream.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { openReader } from '../../../stages/ledger/open-reader.ts';
import { toolSums } from '../../../stages/ledger/tools/tool-sums.ts';
import type { ToolKey } from '../../../stages/ledger/tools/tool-sums.ts';
import { estimateTokens } from '../../../stages/model/tokens.ts';
import { MAX_TOOLS } from '../../../stages/model/tool-use.ts';

type Json = Readonly<Record<string, unknown>>;

const MODEL = 'claude-opus-5-5';
const LIST = 'mcp__github__list_issues';
/** Sizes of which no two add up to a third, so that a sum identifies its parts. */
const TOOLS = [
  {
    name: 'Bash',
    description: 'Runs a command. '.repeat(60).trim(),
    input_schema: SCHEMA('command'),
  },
  {
    name: LIST,
    description: 'Lists issues. '.repeat(20).trim(),
    input_schema: SCHEMA('repository'),
  },
  { name: 'mcp__github__get', description: 'Gets one.', input_schema: SCHEMA('number') },
];

function SCHEMA(name: string) {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] };
}

/** Returns the estimated tokens of a definition, by the documented rule. */
const sizeOf = ({ name, description, input_schema }: (typeof TOOLS)[number]): number =>
  estimateTokens(name) + estimateTokens(description) + estimateTokens(JSON.stringify(input_schema));

const ALL = TOOLS.reduce((sum, tool) => sum + sizeOf(tool), 0);

const call = (id: string, name: string) => ({ type: 'tool_use', id, name, input: { id } });
const result = (id: string, content: unknown, more: Json = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
});

/** A conversation of three turns; each repeats everything before it. */
const FIRST = [{ role: 'user', content: 'What is open?' }];
const SECOND = [
  ...FIRST,
  { role: 'assistant', content: [call('a', 'Bash'), call('b', 'Bash'), call('c', LIST)] },
  {
    role: 'user',
    content: [
      result('a', 'three files'),
      result('b', 'no such file', { is_error: true }),
      result('c', [
        { type: 'text', text: 'issue 1: it rains' },
        { type: 'text', text: 'issue 2: it does not' },
      ]),
    ],
  },
];
const THIRD = [
  ...SECOND,
  { role: 'assistant', content: [call('d', 'Bash')] },
  { role: 'user', content: [result('d', 'done')] },
];

const USAGE = { input_tokens: 4000, output_tokens: 20 };

async function ask(
  t: TestProxy,
  upstream: PlainUpstream,
  body: Json,
  {
    usage = USAGE,
    status = 200,
    path = '/v1/messages',
    headers = {},
  }: {
    usage?: Json;
    status?: number;
    path?: string;
    headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<void> {
  const answers: Readonly<Record<string, Json>> = {
    '/v1/messages': {
      type: 'message',
      role: 'assistant',
      content: [],
      stop_reason: 'end_turn',
      usage,
    },
    '/v1/chat/completions': { object: 'chat.completion', choices: [], usage },
    '/v1/responses': { object: 'response', status: 'completed', output: [], usage },
  };
  const answer = answers[path] ?? { candidates: [{ finishReason: 'STOP' }], usageMetadata: usage };
  upstream.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(status === 200 ? { ...answer, model: MODEL } : { type: 'error' }));
  });
  await exchange(t.proxy.port, { path, headers, body: JSON.stringify(body) });
}

const turn = (messages: unknown, more: Json = {}): Json => ({
  model: MODEL,
  max_tokens: 100,
  messages,
  tools: TOOLS,
  ...more,
});

async function sums(t: TestProxy, ...keys: ToolKey[]) {
  const reader = await openReader(t.db);
  try {
    return await toolSums(reader, keys, { sinceMs: 0 });
  } finally {
    await reader.destroy();
  }
}

const get = async (t: TestProxy, path: string) =>
  (await exchange(t.proxy.port, { method: 'GET', path })).text;

test('each result counts once, in the turn that adds it, and each definition in every turn', () =>
  withPlainUpstream({}, async (t, upstream) => {
    for (const messages of [FIRST, SECOND, THIRD]) await ask(t, upstream, turn(messages));
    const rows = await t.rows(3);
    assert.equal(
      rows.map(({ toolResults }) =>
        toolResults?.map(({ tool, calls, failed }) => [tool, calls, failed]),
      ),
      [
        undefined,
        [
          ['Bash', 2, 1],
          [LIST, 1, 0],
        ],
        [['Bash', 1, 0]],
      ],
    );
    const groups = await sums(t, 'tool');
    assert.equal(
      groups.map(({ keys: [tool], totals }) => [
        tool,
        totals.calls,
        totals.failedCalls,
        totals.resultTokens,
      ]),
      [
        [
          'Bash',
          3,
          1,
          ['three files', 'no such file', 'done'].reduce(
            (sum, text) => sum + estimateTokens(text),
            0,
          ),
        ],
        [LIST, 1, 0, estimateTokens('issue 1: it rains') + estimateTokens('issue 2: it does not')],
        ['mcp__github__get', 0, 0, 0],
      ],
    );
    for (const {
      keys: [name],
      totals,
    } of groups) {
      const own = sizeOf(TOOLS.find((tool) => tool.name === name)!);
      assert.is(totals.definitions, 3);
      assert.is(Math.round(totals.definitionTokens), own * 3);
    }
    const all = (of: 'definitionTokens' | 'definitionNanoUsd') =>
      Math.round(groups.reduce((sum, { totals }) => sum + totals[of], 0));
    assert.is(all('definitionTokens'), 3 * ALL);
    assert.is(
      all('definitionTokens'),
      rows.reduce((sum, row) => sum + row.toolDefinitionTokens!, 0),
    );
    assert.is(
      all('definitionNanoUsd'),
      rows.reduce((sum, row) => sum + row.costToolDefinitionsNanoUsd!, 0),
    );
    assert.is(
      rows[0]?.costToolDefinitionsNanoUsd,
      Math.round(dollarsFor({ model: MODEL, input: ALL, output: 0 }, [])! * 1e9),
    );
  }));

test('definitions cost the rates at the start of the prompt: cache reads, then writes, then input', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const [read, write] = [Math.floor(ALL / 2), Math.floor(ALL / 4)];
    const rest = ALL - read - write;
    const cases: readonly (readonly [Json, number | undefined])[] = [
      [
        { cache_read_input_tokens: 50_000 },
        dollarsFor({ model: MODEL, input: 0, read: ALL, output: 0 }, []),
      ],
      [
        { cache_creation_input_tokens: 50_000 },
        dollarsFor({ model: MODEL, input: 0, write: ALL, output: 0 }, []),
      ],
      [
        { cache_read_input_tokens: read, cache_creation_input_tokens: write },
        dollarsFor({ model: MODEL, input: rest, read, write, output: 0 }, []),
      ],
      [{ speed: 'fast' }, dollarsFor({ model: MODEL, input: ALL, output: 0 }, ['fast'])],
    ];
    for (const [usage] of cases)
      await ask(t, upstream, turn(FIRST), { usage: { ...USAGE, ...usage } });
    const rows = await t.rows(cases.length);
    for (const [index, [usage, dollars]] of cases.entries())
      assert.is(
        rows[index]?.costToolDefinitionsNanoUsd,
        Math.round(dollars! * 1e9),
        JSON.stringify(usage),
      );
  }));

test('in a long context definitions cost the rates of a long context', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const model = 'claude-haiku-5-5';
    const input = 150_000;
    upstream.answer(() => undefined);
    const usage = { input_tokens: input, output_tokens: 1 };
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const answer = { type: 'message', role: 'assistant', model, content: [], usage };
      response.end(JSON.stringify({ ...answer, stop_reason: 'end_turn' }));
    });
    await exchange(t.proxy.port, { body: JSON.stringify(turn(FIRST, { model })) });
    const [row] = await t.rows(1);
    const rate = dollarsFor({ model, input, output: 0 }, [])! / input;
    assert.is(row?.costToolDefinitionsNanoUsd, Math.round(rate * ALL * 1e9));
  }));

test('failed requests and cached responses do not count', () =>
  withPlainUpstream({ yaml: 'cache:\n  enabled: true\n' }, async (t, upstream) => {
    const once = turn(SECOND, { temperature: 0 });
    await ask(t, upstream, once, { status: 400 });
    await ask(t, upstream, once);
    await ask(t, upstream, once);
    const rows = await t.rows(3);
    assert.equal(
      rows.map(({ toolResults }) => toolResults?.length ?? 0),
      [0, 2, 0],
    );
    const [bash] = await sums(t, 'tool');
    assert.equal([bash?.totals.calls, bash?.totals.definitions], [2, 1]);
  }));

test('finds the names of tools in every dialect', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const parameters = SCHEMA('city');
    await ask(
      t,
      upstream,
      {
        model: 'gpt-5',
        messages: [
          { role: 'user', content: 'q' },
          {
            role: 'assistant',
            tool_calls: [
              { id: 'c', type: 'function', function: { name: 'chat_tool', arguments: '{}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'c', content: 'rain' },
        ],
        tools: [
          { type: 'function', function: { name: 'chat_tool', description: 'd', parameters } },
        ],
      },
      { path: '/v1/chat/completions', usage: { prompt_tokens: 50, completion_tokens: 2 } },
    );
    await ask(
      t,
      upstream,
      {
        model: 'gpt-5',
        input: [
          { role: 'user', content: 'q' },
          { type: 'function_call', call_id: 'c', name: 'responses_tool', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c', output: 'rain' },
        ],
        tools: [{ type: 'function', name: 'responses_tool', parameters }],
      },
      { path: '/v1/responses', usage: { input_tokens: 50, output_tokens: 2 } },
    );
    await ask(
      t,
      upstream,
      {
        contents: [
          { role: 'user', parts: [{ text: 'q' }] },
          { role: 'model', parts: [{ functionCall: { name: 'generate_tool', args: {} } }] },
          {
            role: 'user',
            parts: [{ functionResponse: { name: 'generate_tool', response: { weather: 'rain' } } }],
          },
        ],
        tools: [{ functionDeclarations: [{ name: 'generate_tool', parameters }] }],
      },
      {
        path: '/v1beta/models/gemini-2.5-pro:generateContent',
        usage: { promptTokenCount: 50, candidatesTokenCount: 2, totalTokenCount: 52 },
      },
    );
    await t.rows(3);
    for (const {
      keys: [tool],
      totals,
    } of await sums(t, 'tool')) {
      assert.equal([totals.calls, totals.definitions], [1, 1], tool ?? '');
      assert.ok(totals.resultTokens > 0 && totals.definitionTokens > 0, tool ?? '');
    }
    assert.equal((await sums(t, 'tool')).map(({ keys }) => keys[0] ?? '').toSorted(), [
      'chat_tool',
      'generate_tool',
      'responses_tool',
    ]);
  }));

test('/stats and /metrics have the same sums, by tool and by MCP server', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const headers = { 'x-svc-project': 'shop' };
    for (const messages of [SECOND, THIRD]) await ask(t, upstream, turn(messages), { headers });
    await t.rows(2);
    const stats = JSON.parse(await get(t, '/stats')) as Record<string, Record<string, Json>>;
    const json = ({ totals }: { totals: Readonly<Record<string, number>> }) => ({
      calls: totals['calls'],
      failed_calls: totals['failedCalls'],
      result_tokens: totals['resultTokens'],
      sent_result_tokens: totals['sentResultTokens'],
      definitions: totals['definitions'],
      definition_tokens: Math.round(totals['definitionTokens']!),
      definition_cost: Math.round(totals['definitionNanoUsd']!) / 1e9,
    });
    for (const group of await sums(t, 'tool', 'project')) {
      assert.is(group.keys[1], 'shop');
      assert.equal(stats['by_tool']?.[group.keys[0]!], json(group));
    }
    const servers = await sums(t, 'mcp');
    assert.equal(
      servers.map(({ keys: [server] }) => server),
      [null, 'github'],
    );
    assert.equal(stats['by_mcp_server'], { github: json(servers[1]!) });
    const metrics = await get(t, '/metrics');
    assert.match(metrics, 'svc_tool_calls_total{tool="Bash"} 3\n');
    assert.match(metrics, `svc_tool_calls_total{tool="${LIST}",server="github"} 1\n`);
    assert.match(metrics, /svc_tool_definition_cost_usd_total\{tool="Bash"\} 0\.00\d+\n/);
  }));

test('tools beyond a maximum number are summed together, and totals stay complete', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const many = Array.from({ length: 300 }, (_, n) => ({
      ...TOOLS[0]!,
      name: `tool\u0000 \ud800${n}`,
    }));
    for (const start of [0, 150])
      await ask(t, upstream, turn(FIRST, { tools: many.slice(start, start + 150) }));
    await ask(t, upstream, turn(FIRST, { tools: many }), {
      usage: { ...USAGE, input_tokens: 200_000 },
    });
    const rows = await t.rows(3);
    assert.ok(rows.every(({ toolDefinitionTokens }) => toolDefinitionTokens! > 0));
    const lines = (await get(t, '/metrics')).match(/^svc_tool_definition_tokens_total.*$/gm) ?? [];
    assert.is(lines.length, MAX_TOOLS + 1);
    const whole = rows.reduce((sum, row) => sum + row.toolDefinitionTokens!, 0);
    const shown = lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    // Each series is rounded to an integer separately.
    assert.ok(Math.abs(shown - whole) <= lines.length / 2, `${shown} of ${whole}`);
    const stored = await sums(t, 'tool');
    assert.is(
      Math.round(stored.reduce((sum, { totals }) => sum + totals.definitionTokens, 0)),
      whole,
    );
    assert.is(stored.find(({ keys: [tool] }) => tool === '(other)')?.totals.definitions, 1);
    assert.ok(stored.some(({ keys: [tool] }) => tool === 'tool___7'));
  }));

test.after(closeClients);
test.run();
