/**
 * Requests nested deeper than the stack of any recursive parser, at every place in every dialect.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

const LEVELS = 20_000;
/** Placeholder for the nested value, which JSON.stringify could not write. */
const HERE = '"<here>"';
const MARK = '<here>';

interface Place {
  readonly name: string;
  readonly path: string;
  readonly body: object;
}

const CALL = { role: 'assistant', content: null };
const RESPONSES = { model: 'gpt-fixture-1', input: 'hello' };
const GENERATE = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };
const GENERATE_PATH = '/v1beta/models/gemini-fixture-1:generateContent';

function places(path: string, base: object, bodies: Record<string, object>): Place[] {
  return Object.entries(bodies).map(([name, more]) => ({
    name: `${path} ${name}`,
    path,
    body: { ...base, ...more },
  }));
}

const chatCall = (call: object) => ({
  messages: [...CHAT.messages, { ...CALL, tool_calls: [call] }],
});
const blocks = (role: string, ...content: object[]) => ({
  messages: [...MESSAGE.messages, { role, content }],
});
const parts = (role: string, ...given: object[]) => ({
  contents: [...GENERATE.contents, { role, parts: given }],
});
const items = (...input: object[]) => ({ input: [{ role: 'user', content: 'hello' }, ...input] });

const PLACES: readonly Place[] = [
  ...places('/v1/messages', MESSAGE, {
    'an unknown member': { later: MARK },
    system: { system: MARK },
    'a system block': { system: [{ type: 'text', text: 'x', cache_control: MARK }] },
    metadata: { metadata: MARK },
    thinking: { thinking: MARK },
    tool_choice: { tool_choice: MARK },
    tools: { tools: MARK },
    'a tool': { tools: [MARK] },
    'a schema': { tools: [{ name: 't', input_schema: MARK }] },
    "a schema's property": {
      tools: [{ name: 't', input_schema: { type: 'object', properties: { a: MARK } } }],
    },
    output_config: { output_config: { format: { type: 'json_schema', schema: MARK } } },
    messages: { messages: MARK },
    'a message': { messages: [MARK] },
    content: { messages: [{ role: 'user', content: MARK }] },
    'a block': blocks('user', [MARK]),
    "a block's text": blocks('user', { type: 'text', text: MARK }),
    'a tool input': blocks('assistant', { type: 'tool_use', id: 't', name: 't', input: MARK }),
    'a tool result': blocks('user', { type: 'tool_result', tool_use_id: 't', content: MARK }),
    'a part of a tool result': blocks('user', {
      type: 'tool_result',
      tool_use_id: 't',
      content: [MARK],
    }),
    'an image': blocks('user', { type: 'image', source: MARK }),
    'a type': blocks('user', { type: MARK }),
  }),
  ...places('/v1/chat/completions', CHAT, {
    'an unknown member': { later: MARK },
    stream_options: { stream_options: MARK, stream: true },
    response_format: { response_format: MARK },
    'a response schema': {
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: MARK } },
    },
    tools: { tools: MARK },
    'a function': { tools: [{ type: 'function', function: MARK }] },
    parameters: { tools: [{ type: 'function', function: { name: 't', parameters: MARK } }] },
    functions: { functions: [MARK] },
    tool_choice: { tool_choice: MARK },
    messages: { messages: MARK },
    'a message': { messages: [MARK] },
    content: { messages: [{ role: 'user', content: MARK }] },
    'a part': { messages: [{ role: 'user', content: [MARK] }] },
    'a call': chatCall({ id: 'c', type: 'function', function: MARK }),
    arguments: chatCall({ id: 'c', type: 'function', function: { name: 't', arguments: MARK } }),
    'a tool result': { messages: [...CHAT.messages, { role: 'tool', content: MARK }] },
  }),
  ...places('/v1/responses', RESPONSES, {
    'an unknown member': { later: MARK },
    instructions: { instructions: MARK },
    input: { input: MARK },
    'an item': items([MARK]),
    'a type': items({ type: MARK }),
    'the content of an item': items({ role: 'user', content: MARK }),
    'a part': items({ role: 'user', content: [MARK] }),
    arguments: items({ type: 'function_call', call_id: 'c', name: 't', arguments: MARK }),
    'an output': items({ type: 'function_call_output', call_id: 'c', output: MARK }),
    'a shell call': items({ type: 'local_shell_call', call_id: 'c', action: MARK }),
    reasoning: { reasoning: MARK },
    'a summary': items({ type: 'reasoning', summary: MARK }),
    tools: { tools: [MARK] },
    parameters: { tools: [{ type: 'function', name: 't', parameters: MARK }] },
    text: { text: { format: MARK } },
  }),
  ...places(GENERATE_PATH, GENERATE, {
    'an unknown member': { later: MARK },
    systemInstruction: { systemInstruction: MARK },
    tools: { tools: MARK },
    parameters: { tools: [{ functionDeclarations: [{ name: 't', parameters: MARK }] }] },
    generationConfig: { generationConfig: MARK },
    responseSchema: { generationConfig: { responseSchema: MARK } },
    contents: { contents: MARK },
    'a content': { contents: [MARK] },
    'a part': parts('user', [MARK]),
    args: parts('model', { functionCall: { name: 't', args: MARK } }),
    'a response': parts('user', { functionResponse: { name: 't', response: MARK } }),
    "a response's member": parts('user', {
      functionResponse: { name: 't', response: { output: MARK } },
    }),
  }),
  ...places('/v1/messages/count_tokens', MESSAGE, { system: { system: MARK } }),
  ...places('/v1/completions', { model: 'm' }, { prompt: { prompt: MARK } }),
  ...places('/v1/embeddings', { model: 'm' }, { input: { input: MARK } }),
];

const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const objects = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
/** Wraps the JSON in a string, for a tool's arguments or output. */
const inString = (json_: string) => JSON.stringify(json_);

const FORMS: Readonly<Record<string, string>> = {
  lists: lists(LEVELS),
  objects: objects(LEVELS),
  'fewer objects': objects(5_000),
  'just too many': lists(129),
  'a string of objects': inString(objects(LEVELS)),
  'a string of lists': inString(lists(LEVELS)),
};

/**
 * Forms sent to another kind of provider or with bypass: one of each sort, since reading is the
 * same there.
 */
const FORMS_TRANSLATED = ['objects', 'just too many', 'a string of lists'];

/**
 * Provider kinds to route to, so that requests are also translated; undefined keeps each path's own
 * provider.
 */
const PROVIDERS = [undefined, 'messages', 'chat', 'generative'] as const;

async function survives(t: TestProxy, kind: string | undefined, bypass: boolean): Promise<void> {
  let sent = 0;
  for (const { name, path, body } of PLACES) {
    const forms = kind === undefined && !bypass ? Object.keys(FORMS) : FORMS_TRANSLATED;
    for (const form of forms) {
      const nested = FORMS[form]!;
      const reported = `${name}, ${form}, ${kind ?? 'its own provider'}`;
      const response = await exchange(t.proxy.port, {
        path,
        body: JSON.stringify(body).replace(HERE, () => nested),
        headers: { 'x-svc-cache': 'on', ...(bypass && { 'x-svc-bypass': '1' }) },
      });
      sent += 1;
      const isString = nested.startsWith('"');
      const isRead = !/count_tokens|completions$|embeddings/.test(path) || /chat/.test(path);
      if (!isString && isRead)
        assert.is(response.status, 400, `${reported}: ${response.text.slice(0, 200)}`);
      else
        assert.ok(
          response.status < 500,
          `${reported}: ${response.status} ${response.text.slice(0, 300)}`,
        );
    }
  }
  const last = await exchange(t.proxy.port, { body: json(MESSAGE) });
  assert.is(last.status, 200, 'still serves');
  const rows = await t.rows(sent + 1);
  assert.is(rows.length, sent + 1, 'every request has one row');
  assert.is(t.proxy.services.deferredWorkFaults.count, 0);
}

for (const kind of PROVIDERS) {
  const yaml = kind === undefined ? '' : `routing: { primary: ${kind} }\n`;
  test(`deeply nested requests are refused while parsing, for ${kind ?? 'the provider of each path'}`, () =>
    withProxy({ yaml }, (t) => survives(t, kind, false)));
}

test('a request that must be forwarded verbatim is refused as well if it is nested too deeply', () =>
  withProxy({}, (t) => survives(t, undefined, true)));

test('accepts 128 levels', () =>
  withProxy({}, async (t) => {
    // The body itself counts as one level.
    const body = json(MESSAGE, { later: MARK }).replace(HERE, lists(127));
    assert.is((await exchange(t.proxy.port, { body })).status, 200);
  }));

test('a failure after the response crashes nothing, and the row is written', () =>
  withProxy({}, async (t) => {
    const { priceList } = t.proxy.services;
    const inner = { ...priceList };
    Object.assign(priceList, {
      find: () => {
        throw new RangeError('Maximum call stack size exceeded');
      },
    });
    assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, 200);
    const [row] = await t.rows(1);
    assert.is(row!.status, 200);
    assert.is(row!.inputTokensSent, null, 'an unmeasurable figure is not estimated');
    assert.is(t.proxy.services.deferredWorkFaults.count, 1);
    const health = await exchange(t.proxy.port, { method: 'GET', path: '/health' });
    assert.match(health.text, /work after an answer failed/);
    Object.assign(priceList, inner);
    assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, 200);
    assert.is((await t.rows(2)).length, 2);
  }));

test.after(closeClients);
test.run();
