/** Tool definitions with repeated text removed, checked in the bytes that the provider receives. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestProxy, withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

type Json = Readonly<Record<string, unknown>>;

const ON = 'compression: { tools: trim }';
const DESCRIPTION =
  'Reads a file.  Paths are absolute.\n\n        Args:\n            file_path: the file\n';
const SHORT = 'Reads a file. Paths are absolute.\n\nArgs:\n    file_path: the file';

const SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  title: 'ReadArguments',
  properties: {
    file_path: { type: 'string', title: 'File Path', description: 'The file  to read. ' },
    limit: { type: 'integer', title: 'Limit', minimum: 0 },
  },
  required: ['file_path'],
  additionalProperties: {},
};
const SHORT_SCHEMA = {
  type: 'object',
  properties: {
    file_path: { type: 'string', description: 'The file  to read.' },
    limit: { type: 'integer', minimum: 0 },
  },
  required: ['file_path'],
};

const SEARCH = { type: 'web_search_20250305', name: 'web_search', description: 'as  it is. ' };
const CACHED = { cache_control: { type: 'ephemeral' } };

const messagesTools = [
  { name: 'Read', description: DESCRIPTION, input_schema: SCHEMA },
  SEARCH,
  {
    name: 'Ask',
    description: 'Asks.',
    input_schema: { type: 'object', properties: {} },
    ...CACHED,
  },
  { name: 'Grep', description: 'Searches. ', input_schema: SCHEMA, ...CACHED },
];
const shortMessagesTools = [
  { name: 'Read', description: SHORT, input_schema: SHORT_SCHEMA },
  SEARCH,
  messagesTools[2],
  {
    name: 'Grep',
    description: 'Searches.',
    input_schema: { ...SHORT_SCHEMA, title: 'ReadArguments' },
    ...CACHED,
  },
];

/** Returns a conversation of `turns` turns that has these tools from the start. */
const body = (turns: number, tools: readonly unknown[] = messagesTools, more: object = {}) => ({
  model: 'claude-sonnet-4-5',
  max_tokens: 9,
  messages: Array.from({ length: 2 * turns - 1 }, (_, n) => ({
    role: n % 2 === 0 ? 'user' : 'assistant',
    content: `word ${n}`,
  })),
  tools,
  ...more,
});

/** Sends the request; returns the JSON text that the provider received. */
async function send(
  t: TestProxy,
  request: object,
  path = '/v1/messages',
  headers: Record<string, string> = {},
): Promise<string> {
  const before = t.upstream.requests.length;
  const response = await exchange(t.proxy.port, { path, body: JSON.stringify(request), headers });
  assert.is(response.status, 200, response.text);
  return t.upstream.requests[before]!.bodyBytes.toString();
}

const toolsOf = (sent: string): unknown => (JSON.parse(sent) as Json)['tools'];

test('removes white space and repetitions, but nothing that a marker or the provider needs', () =>
  withProxy({ yaml: ON }, async (t) => {
    const request = body(1);
    const sent = await send(t, request);
    assert.equal(JSON.parse(sent), { ...request, tools: shortMessagesTools });
    assert.ok(sent.endsWith('"cache_control":{"type":"ephemeral"}}]}'), sent.slice(-80));
  }));

test('with trimming off (the default) and in strict every byte stays', () =>
  withProxy({}, async (t) => {
    assert.is(await send(t, body(1)), JSON.stringify(body(1)));
    t.configure(`${ON.slice(0, -2)}, mode: strict }`);
    await t.proxy.reload();
    assert.is(await send(t, body(1)), JSON.stringify(body(1)));
    t.configure(ON);
    await t.proxy.reload();
    const strict = { 'x-svc-mode': 'strict' };
    const other = body(1, messagesTools, { system: 'another conversation' });
    assert.is(await send(t, other, '/v1/messages', strict), JSON.stringify(other));
  }));

test('every turn sends the same definitions, even after a restart or a change of the setting', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tools-'));
  const bodyOf = (turns: number) => body(turns, messagesTools, { metadata: { user_id: 'u' } });
  const toolBytes = (sent: string) => sent.slice(sent.indexOf('"tools"'));
  try {
    let first: string | undefined;
    for (const [index, yaml] of [ON, ON, 'compression: { tools: off }', ON].entries()) {
      const t = await startTestProxy({ env: { SVC_HOME: folder }, yaml });
      const sent = toolBytes(await send(t, bodyOf(index + 1)));
      first ??= sent;
      assert.is(sent, first, `turn ${index + 1}`);
      await t.close();
    }
    assert.ok(!first!.includes('$schema'));
    const t = await startTestProxy({
      env: { SVC_HOME: folder },
      yaml: 'compression: { enabled: false }',
    });
    assert.equal(toolsOf(await send(t, bodyOf(5))), messagesTools, 'off wins');
    await t.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a conversation that began with full definitions keeps them', () =>
  withProxy({ yaml: 'compression: { threshold_tokens: 0 }' }, async (t) => {
    await send(t, body(1));
    t.configure(`${ON.slice(0, -2)}, threshold_tokens: 0 }`);
    await t.proxy.reload();
    assert.equal(toolsOf(await send(t, body(2))), messagesTools);
  }));

test('in chat, a strict tool keeps its schema', () =>
  withProxy({ yaml: ON }, async (t) => {
    const toolOf = (description: string, parameters: object, more: object = {}) => ({
      type: 'function',
      function: { name: 'Read', description, parameters, ...more },
    });
    const strict = { ...SCHEMA, title: 'T', properties: {} };
    const request = {
      model: 'gpt-fixture-1',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [
        toolOf(DESCRIPTION, SCHEMA),
        toolOf(DESCRIPTION, strict, { strict: true }),
        {
          type: 'custom',
          custom: { name: 'patch', description: 'Patches. ', format: { type: 'text' } },
        },
      ],
    };
    const sent = await send(t, request, '/v1/chat/completions');
    assert.equal(toolsOf(sent), [
      toolOf(SHORT, SHORT_SCHEMA),
      toolOf(SHORT, strict, { strict: true }),
      {
        type: 'custom',
        custom: { name: 'patch', description: 'Patches.', format: { type: 'text' } },
      },
    ]);
  }));

test('in responses, tools are strict by default, including namespaces and tools added later', () =>
  withProxy({ yaml: ON }, async (t) => {
    const toolOf = (description: string, parameters: object, more: object = { strict: false }) => ({
      type: 'function',
      name: 'Read',
      description,
      parameters,
      ...more,
    });
    const plain = { ...SCHEMA, title: 'T', properties: {} };
    const build = (description: string, parameters: object) => ({
      model: 'gpt-fixture-1',
      input: [
        { type: 'message', role: 'user', content: 'hi' },
        { type: 'additional_tools', tools: [toolOf(description, parameters)] },
      ],
      tools: [
        toolOf(description, parameters),
        toolOf(description, plain, {}),
        { type: 'namespace', name: 'mcp', description, tools: [toolOf(description, parameters)] },
        { type: 'web_search', description: 'as it is. ' },
      ],
    });
    const sent = await send(t, build(DESCRIPTION, SCHEMA), '/v1/responses');
    assert.equal(JSON.parse(sent), build(SHORT, SHORT_SCHEMA));
  }));

test('in the generative dialect, both spellings of its fields are trimmed', () =>
  withProxy({ yaml: ON }, async (t) => {
    const build = (description: string, schema: object) => ({
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      tools: [
        { functionDeclarations: [{ name: 'Read', description, parametersJsonSchema: schema }] },
        { function_declarations: [{ name: 'Read', description, parameters: schema }] },
        { googleSearch: {} },
      ],
    });
    const path = '/v1beta/models/gemini-fixture-1:generateContent';
    assert.equal(
      JSON.parse(await send(t, build(DESCRIPTION, SCHEMA), path)),
      build(SHORT, SHORT_SCHEMA),
    );
  }));

test('a provider with another dialect gets the trimmed definitions too', () =>
  withProxy({ yaml: `${ON}\nrouting: { primary: chat }` }, async (t) => {
    const request = { ...body(1), tools: [messagesTools[0]] };
    const sent = JSON.parse(await send(t, request)) as { tools: readonly { function: Json }[] };
    assert.is(t.upstream.requests.at(-1)!.path, '/v1/chat/completions');
    assert.is(sent.tools[0]!.function['description'], SHORT);
    assert.is(JSON.stringify(sent.tools).includes('draft-07'), false);
  }));

test('trace, diff and receipt show the saving in a lane of its own', () => {
  const usage = { input: 9000, output: 7, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  return withProxy({ yaml: ON, upstream: { replies: () => ({ usage }) } }, async (t) => {
    await send(t, body(1));
    const [row] = await t.rows(1);
    assert.ok(row!.toolTokens! > 50, String(row!.toolTokens));
    assert.is(row!.savedTokens, row!.toolTokens);
    assert.is(row!.costSavedByToolsNanoUsd, row!.toolTokens! * 3000);
    const read = async (path: string): Promise<Json> =>
      JSON.parse((await exchange(t.proxy.port, { method: 'GET', path })).text) as Json;
    const { lanes } = (await read('/savings')) as { lanes: Record<string, Json> };
    assert.equal(lanes['tools'], {
      requests: 1,
      tokens_saved: row!.toolTokens,
      cost_saved_usd: row!.costSavedByToolsNanoUsd! / 1e9,
    });
    assert.equal(lanes['compression'], { tokens_saved: 0, cost_saved_usd: 0 });
    const trace = JSON.stringify(await read('/trace/last'));
    assert.ok(trace.includes('"tools_trimmed":2'), trace);
    const { blocks } = (await read('/v1/svc/lost/last')) as { blocks: readonly Json[] };
    assert.equal(
      blocks.map(({ index, tool, by }) => [index, tool, by]),
      [
        [-1, 'Read', ['tool-trim']],
        [-3, 'Grep', ['tool-trim']],
      ],
    );
    assert.ok(String(blocks[0]!['before']).includes('"$schema"'));
    assert.ok(!String(blocks[0]!['after']).includes('"$schema"'));
  });
});

test.after(closeClients);
test.run();
