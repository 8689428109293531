/**
 * Shortened results that say how to fetch the whole text, checked in the bytes that the provider
 * receives.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { FETCH_TOOL_OPENING } from '../../../stages/originals/fetch-tool.ts';

const YAML = 'compression: { threshold_tokens: 0, log_budget_tokens: 300 }\n';
const BASH = { name: 'Bash', description: 'Runs a command', input_schema: { type: 'object' } };
/** The fetch tool as Claude Code passes it on. */
const FETCH = {
  name: 'mcp__svc__get_block',
  description: `${FETCH_TOOL_OPENING}. More.`,
  input_schema: { type: 'object', properties: { id: { type: 'string' } } },
};
const MARK = /\n\[svc the whole result: (\S+) with id ([\w-]{12})\]$/;

/** Returns a log far above the budget; `tag` makes each log unique. */
function log(tag: string): string {
  const words = ['harbour', 'tide', 'gauge', 'station', 'pier', 'lock'];
  return Array.from(
    { length: 600 },
    (_, n) =>
      `2026-01-05 10:${String(n % 60).padStart(2, '0')}:07 INFO ${tag}.${words[n % 6]} reading ${n * 7919} of ${words[(n * 5) % 6]} taken in ${n % 13} ms`,
  ).join('\n');
}

interface Part {
  readonly type: string;
  readonly content?: string;
}

interface Turn {
  readonly name?: string;
  readonly result: string;
  readonly thinking?: boolean;
}

const thought = (at: number) => ({
  type: 'thinking',
  thinking: `Step ${at}.`,
  signature: `c2lnbmF0dXJl${at}`,
});

function bodyOf(turns: readonly Turn[], tools: readonly object[]): string {
  const messages = turns.flatMap(({ name = 'Bash', result, thinking }, index) => {
    const call = { type: 'tool_use', id: `t${index}`, name, input: { command: `make ${index}` } };
    const content = [{ type: 'tool_result', tool_use_id: `t${index}`, content: result }];
    return [
      { role: 'assistant', content: [...(thinking === true ? [thought(index)] : []), call] },
      { role: 'user', content },
    ];
  });
  const ask = { role: 'user', content: 'Build it, please.' };
  return JSON.stringify({
    model: 'claude-sonnet-4-5',
    max_tokens: 9,
    tools,
    messages: [ask, ...messages],
  });
}

/** Sends the turns; returns the tool results that the provider received. */
async function forwardedResults(t: TestProxy, turns: readonly Turn[], tools: readonly object[]) {
  const arrived = t.upstream.nextRequest();
  const { status, text } = await exchange(t.proxy.port, { body: bodyOf(turns, tools) });
  assert.is(status, 200, text);
  const { messages } = JSON.parse((await arrived).body.toString()) as {
    readonly messages: readonly { readonly content: string | readonly Part[] }[];
  };
  return messages
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .flatMap(({ type, content = '' }) => (type === 'tool_result' ? [content] : []));
}

const [one, two, three] = ['alpha', 'beta', 'gamma'].map((tag) => ({ result: log(tag) })) as [
  Turn,
  Turn,
  Turn,
];
const nameIn = (text: string | undefined): string | undefined => MARK.exec(text ?? '')?.[1];

test("a mark uses the client's name of the tool, and its id fetches the text byte for byte", () =>
  withProxy({ yaml: YAML }, async (t) => {
    const [first] = await forwardedResults(t, [one], [BASH, FETCH]);
    const [, name, id] = MARK.exec(first!) ?? [];
    assert.is(name, 'mcp__svc__get_block');
    assert.ok(first!.length < one.result.length / 2);
    const kept = await fetch(`${t.proxy.url}/v1/svc/blocks/${id}`);
    assert.is(((await kept.json()) as { before: string }).before, one.result);
    const diff = await fetch(`${t.proxy.url}/v1/svc/lost/last`);
    assert.match(await diff.text(), 'the whole result');
  }));

test('without the tool there is no mark, and all other bytes are the same', () =>
  withProxy({ yaml: YAML }, async (t) => {
    const other = { ...FETCH, description: 'Reads a block of the chain.' };
    const [plain] = await forwardedResults(t, [one], [BASH, other]);
    assert.is(nameIn(plain), undefined);
    assert.match(plain!, '[svc omitted');
    await withProxy({ yaml: YAML }, async (fresh) => {
      const [marked] = await forwardedResults(fresh, [one], [BASH, FETCH]);
      assert.is(marked!.replace(MARK, ''), plain);
    });
    const later = { ...FETCH, defer_loading: true };
    await withProxy({ yaml: YAML }, async (fresh) => {
      assert.equal(await forwardedResults(fresh, [one], [BASH, later]), [plain]);
    });
  }));

test('fetched text is sent in full, and its earlier form stays as it was', () =>
  withProxy({ yaml: YAML }, async (t) => {
    const tools = [BASH, FETCH];
    const [first] = await forwardedResults(t, [one], tools);
    const fetched = { name: FETCH.name, result: one.result };
    const second = await forwardedResults(t, [one, fetched], tools);
    assert.equal(second, [first, one.result]);
    const third = await forwardedResults(t, [one, fetched, two], tools);
    assert.equal(third.slice(0, 2), second);
    assert.is(nameIn(third[2]), FETCH.name);
    // The marks stay even if the client no longer has the tool.
    const fourth = await forwardedResults(t, [one, fetched, two, three], [BASH]);
    assert.equal(fourth.slice(0, 3), third);
    assert.is(nameIn(fourth[3]), undefined);
  }));

for (const thinking of [false, true])
  test(`a tool added in mid-conversation is named from then on; thinking: ${thinking}`, () =>
    withProxy({ yaml: YAML }, async (t) => {
      const [a, b, c] = [one, two, three].map((turn) => ({ ...turn, thinking })) as [
        Turn,
        Turn,
        Turn,
      ];
      const first = await forwardedResults(t, [a], [BASH]);
      assert.match(first[0]!, '[svc omitted');
      const second = await forwardedResults(t, [a, b], [BASH, FETCH]);
      assert.equal(second.slice(0, 1), first);
      assert.is(nameIn(second[1]), FETCH.name);
      const third = await forwardedResults(t, [a, b, c], [BASH, FETCH]);
      assert.equal(third.slice(0, 2), second);
      assert.is(nameIn(third[2]), FETCH.name);
    }));

test('Codex and Gemini CLI get the tool names that they declared', () =>
  withProxy({ yaml: YAML }, async (t) => {
    const { description, input_schema: parameters } = FETCH;
    const space = {
      type: 'namespace',
      name: 'mcp__svc',
      description: 'svc',
      tools: [{ type: 'function', name: 'get_block', description, parameters }],
    };
    const call = { type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{}' };
    const output = { type: 'function_call_output', call_id: 'c1', output: one.result };
    const input = [{ role: 'user', content: 'Build it, please.' }, call, output];
    const responses = t.upstream.nextRequest();
    const codex = { model: 'gpt-5', input, tools: [space] };
    await exchange(t.proxy.port, { path: '/v1/responses', body: JSON.stringify(codex) });
    const body = JSON.parse((await responses).body.toString()) as {
      readonly input: readonly { readonly output?: string }[];
    };
    assert.is(nameIn(body.input.at(-1)?.output), 'mcp__svc__get_block');
    const generate = t.upstream.nextRequest();
    const gemini = {
      contents: [
        { role: 'user', parts: [{ text: 'Run it, please.' }] },
        { role: 'model', parts: [{ functionCall: { name: 'shell', args: {} } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'shell', response: { output: one.result } } }],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: 'mcp_svc_get_block', description, parametersJsonSchema: parameters },
          ],
        },
      ],
    };
    const path = '/v1beta/models/gemini-2.5-pro:generateContent';
    await exchange(t.proxy.port, { path, body: JSON.stringify(gemini) });
    assert.match((await generate).body.toString(), '[svc the whole result: mcp_svc_get_block with');
  }));

test.after(closeClients);
test.run();
