/**
 * Whole turns of a responses agent at another kind of provider: tools are sent as functions, calls
 * return as its own.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ReplySource } from '../../fixtures/upstream.ts';
import type { JsonObject } from '../../fixtures/upstream/reply.ts';
import { wireCase } from '../../fixtures/wire.ts';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';
import { createOmissionLog } from './request/omission-log.ts';
import { payloads, traceOf, withPair, withSpare } from '../../fixtures/forward/pair.ts';

const KINDS = ['messages', 'chat', 'generative'] as const;

/** Returns the names of the tools that a request declares, in order. */
function toolsOf(body: JsonObject): string[] {
  const tools = (body['tools'] ?? []) as JsonObject[];
  return tools
    .flatMap((tool) => (tool['functionDeclarations'] as JsonObject[] | undefined) ?? [tool])
    .map((tool) => String((tool['function'] as JsonObject | undefined)?.['name'] ?? tool['name']));
}

/** Calls the first declared tool whose name starts with `begin`. */
const calling =
  (begin: string, input: JsonObject): ReplySource =>
  (dialect, body) => {
    const name = toolsOf(body).find((each) => each.replace('.', '_').startsWith(begin));
    if (dialect === 'responses' || name === undefined) return undefined;
    return { deltas: [], toolCalls: [{ id: 'one', name, input }], stop: 'tool' };
  };

interface Turn {
  readonly file: string;
  /** Prefix of the called tool's name at the other provider. */
  readonly tool: string;
  readonly input: JsonObject;
  /** The call as the agent gets it, without its ids. */
  readonly item: JsonObject;
  readonly notDeclared: RegExp;
}

const TURNS: readonly Turn[] = [
  {
    file: 'agent-code-mode',
    tool: 'functions_exec',
    input: { input: 'text("ls")\n' },
    item: { type: 'custom_tool_call', namespace: 'functions', name: 'exec', input: 'text("ls")\n' },
    notDeclared: /grammar of tool exec/,
  },
  {
    file: 'agent-function-mode',
    tool: 'apply_patch',
    input: { input: '*** Begin\n' },
    item: { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin\n' },
    notDeclared: /tool web_search left out/,
  },
  {
    file: 'agent-function-mode',
    tool: 'tool_search',
    input: { query: 'moon' },
    item: { type: 'tool_search_call', execution: 'client', arguments: { query: 'moon' } },
    notDeclared: /tool web_search left out/,
  },
  {
    file: 'agent-function-mode',
    tool: 'sea_almanac',
    input: { pattern: 'low' },
    item: {
      type: 'function_call',
      namespace: 'sea',
      name: 'almanac',
      arguments: '{"pattern":"low"}',
    },
    notDeclared: /offered at once/,
  },
];

for (const kind of KINDS) {
  for (const { file, tool, input, item, notDeclared } of TURNS) {
    test(`${file} at a ${kind} provider: ${item['type'] as string} of ${tool}`, () =>
      withPair(
        { yaml: withSpare(kind, PROVIDERS), upstream: { replies: calling(tool, input) } },
        async (t) => {
          t.upstream.script(undefined, '503');
          // A chat provider may know the agent's own path; this one does not.
          t.spare.script('/v1/responses', '404');
          const { bytes } = wireCase(`requests/responses-${file}.json`);
          for (const stream of [true, false]) {
            // A generative provider cannot limit calls to one at a time.
            const more = { stream, parallel_tool_calls: true };
            const body = { ...(JSON.parse(bytes.toString()) as object), ...more };
            const sent = { path: '/v1/responses', body: JSON.stringify(body) };
            const response = await exchange(t.proxy.port, sent);
            assert.is(response.status, 200, JSON.stringify(await traceOf(t, response)));
            assert.equal(itemOf(response.text, stream), item);
            const { notes } = (await traceOf(t, response)).stages.find(
              ({ name }) => name === 'upstream_forward',
            )!;
            assert.match(JSON.stringify(notes), notDeclared);
          }
        },
      ));
  }
}

const PROVIDERS = 'providers:';

/** Returns the call in its finished item; a stream must also have announced that item. */
function itemOf(text: string, stream: boolean): JsonObject {
  const events = payloads(text);
  const whole = stream
    ? (events.at(-1)!['response'] as JsonObject)
    : (JSON.parse(text) as JsonObject);
  const [{ id, call_id, status: _status, ...rest }] = whole['output'] as [JsonObject];
  assert.type(call_id, 'string');
  if (stream) {
    for (const type of ['response.output_item.added', 'response.output_item.done']) {
      const { item } = events.find((event) => event['type'] === type) as { item: JsonObject };
      assert.equal([item['id'], item['type'], item['call_id']], [id, rest['type'], call_id]);
    }
  }
  return rest;
}

test('the next turns go out as calls and results of the declared tools', () =>
  withPair({ yaml: withSpare('messages', PROVIDERS) }, async (t) => {
    t.upstream.script(undefined, '503');
    const sent: string[] = [];
    for (const file of ['agent-code-mode', 'agent-function-mode']) {
      const body = wireCase(`requests/responses-${file}.json`).bytes.toString();
      assert.is((await exchange(t.proxy.port, { path: '/v1/responses', body })).status, 200);
      sent.push(t.spare.requests.at(-1)!.body.toString());
    }
    const blocks = sent.map((text) =>
      (JSON.parse(text) as { messages: { content: string | JsonObject[] }[] }).messages
        .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
        .map(({ type, name, input, content }) => [type, name ?? content, input]),
    );
    const declared = sent.map((text) => toolsOf(JSON.parse(text) as JsonObject));
    const [exec] = declared[0]!;
    const search = declared[1]!.find((name) => name === 'tool_search');
    const almanac = declared[1]!.find((name) => name.startsWith('sea_almanac'));
    assert.equal(blocks[0], [
      ['tool_use', exec, { input: 'text("wc -l")' }],
      ['tool_result', 'Script completed\n41 tides.txt\n', undefined],
    ]);
    assert.equal(blocks[1], [
      ['tool_use', search, { query: 'tides' }],
      ['tool_result', 'Tools that can be called now: sea.almanac', undefined],
      ['tool_use', almanac, { pattern: 'high' }],
      ['tool_result', 'high water 14:02\n', undefined],
      ['tool_use', 'apply_patch', { input: '*** Begin\n' }],
      ['tool_result', 'Done', undefined],
    ]);
    assert.is(declared[1]!.length, 4, declared[1]!.join());
  }));

test('a provider that cannot accept essential content is skipped', () =>
  withPair({ yaml: withSpare('messages', PROVIDERS) }, async (t) => {
    t.upstream.script(undefined, '503');
    const { bytes } = wireCase('requests/responses-agent-function-mode.json');
    const body = JSON.parse(bytes.toString()) as { input: object[] };
    const summary = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA' };
    const file = { type: 'input_file', file_id: 'file_1' };
    for (const more of [summary, { type: 'message', role: 'user', content: [file] }]) {
      const input = [...body.input, more];
      const response = await exchange(t.proxy.port, {
        path: '/v1/responses',
        body: JSON.stringify({ ...body, input }),
      });
      assert.ok(response.status >= 500, response.text);
    }
    assert.is(t.spare.requests.length, 0);
  }));

test('the log reports once what is left out for a provider', () => {
  const lines: unknown[] = [];
  const log = createOmissionLog({ warning: (_text, fields) => void lines.push(fields) });
  log('spare', []);
  log('spare', ['a', 'b']);
  log('spare', ['b']);
  log('other', ['b']);
  log('spare', ['b', 'c'.repeat(300)]);
  assert.equal(lines, [
    { provider: 'spare', changes: ['a', 'b'] },
    { provider: 'other', changes: ['b'] },
    { provider: 'spare', changes: ['c'.repeat(256)] },
  ]);
});

test.after(closeClients);
test.run();
