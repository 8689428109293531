import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadWireRequests } from '../../fixtures/wire.ts';
import type { Block } from '../model/block.ts';
import { findSpans } from '../wire/json-path.ts';
import type { DialectName } from '../model/dialect.ts';
import { dialects } from './registry.ts';

/** Checks that every path leads to a JSON string whose value is the block's text. */
function checkPaths(bytes: Buffer, blocks: readonly Block[]): void {
  const placed = blocks.filter((block) => block.path !== undefined);
  const spans = findSpans(
    bytes,
    placed.map((block) => block.path!),
  );
  for (const [i, span] of spans.entries()) {
    assert.ok(span, JSON.stringify(placed[i]!.path));
    assert.is(JSON.parse(bytes.toString('utf8', span.start, span.end)), placed[i]!.text);
  }
}

for (const one of loadWireRequests()) {
  test(`${one.file} is valid, and every block is at its path`, () => {
    const name = one.dialect === 'completions' ? 'opaque' : one.dialect;
    const body: unknown = JSON.parse(one.bytes.toString());
    assert.is(dialects[name].validate(body, one.path), undefined);
    const blocks = dialects[name].blocks(body);
    assert.equal(
      blocks.map((block) => block.index),
      blocks.map((_, i) => i),
    );
    checkPaths(one.bytes, blocks);
    if (name === 'opaque') return assert.is(blocks.length, 0);
    assert.ok(blocks.length > 0);
    const facts = dialects[name].facts(body, one.path);
    assert.is(facts.model, one.facts.model);
    assert.is(facts.stream, one.streaming);
    assert.is(facts.hasTools, one.facts.toolNames.length > 0);
  });
}

/** Returns a block as one line: `message role kind text [marks]`. */
function outline(block: Block): string {
  const marks = [
    block.toolUseId && `id=${block.toolUseId}`,
    block.toolName && `tool=${block.toolName}`,
    block.toolInput && `input=${block.toolInput}`,
    block.isError && 'error',
    block.hasCacheControl && 'cached',
    block.hasCitations && 'cited',
  ].filter(Boolean);
  const place = block.path === undefined ? '-' : block.text;
  return [block.message, block.role, block.kind, place, ...marks].join(' ');
}

function outlineOf(name: DialectName, body: unknown): string[] {
  checkPaths(Buffer.from(JSON.stringify(body)), dialects[name].blocks(body));
  return dialects[name].blocks(body).map(outline);
}

test('messages: blocks are in reading order, and results have their calls', () => {
  const cache = { cache_control: { type: 'ephemeral' } };
  const body = {
    system: [
      { type: 'text', text: 'be' },
      { type: 'text', text: 'kind', ...cache },
    ],
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'system', content: 'note' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'redacted_thinking', data: 'x' },
          { type: 'text', text: 'so', citations: [{ cited_text: 'c' }] },
          { type: 'tool_use', id: 't1', name: 'Bash', input: { cmd: 'ls' } },
          { type: 'server_tool_use', id: 't2', name: 'web', input: {} },
          { type: 'web_search_tool_result', tool_use_id: 't2', content: [] },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: 'out', is_error: true, ...cache },
          {
            type: 'tool_result',
            tool_use_id: 'unknown',
            content: [
              { type: 'text', text: 'part' },
              { type: 'image', source: {} },
            ],
          },
          { type: 'tool_result', tool_use_id: 't1' },
          { type: 'document', source: { type: 'text', data: 'doc' }, citations: { enabled: true } },
          { type: 'image', source: {} },
          'not a part',
        ],
      },
      'not a message',
    ],
  };
  assert.equal(outlineOf('messages', body), [
    '-1 system system be',
    '-1 system system kind cached',
    '0 user text hi',
    '1 system system note',
    '2 assistant thinking hm',
    '2 assistant thinking -',
    '2 assistant text so cited',
    '2 assistant tool_use - tool=Bash input={"cmd":"ls"}',
    '2 assistant tool_use - tool=web input={}',
    '2 assistant other -',
    '3 tool tool_result out id=t1 tool=Bash input={"cmd":"ls"} error cached',
    '3 tool tool_result part id=unknown',
    '3 tool image - id=unknown',
    '3 tool tool_result - id=t1 tool=Bash input={"cmd":"ls"}',
    '3 user document doc cited',
    '3 user image -',
  ]);
  const plain = { system: 'be kind', messages: [] };
  assert.equal(outlineOf('messages', plain), ['-1 system system be kind']);
});

test('chat: developer messages are system blocks, and tool messages have their calls', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'ls', arguments: '{"p":1}' } };
  const body = {
    messages: [
      { role: 'developer', content: [{ type: 'text', text: 'be' }] },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: {} },
          { type: 'text', text: 'hi' },
        ],
      },
      { role: 'assistant', content: null, reasoning_content: 'hm', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'out' },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'out 2' }] },
      { role: 'assistant', content: 'ok', function_call: { name: 'old', arguments: '{}' } },
      { role: 'function', name: 'old', content: 'done' },
    ],
  };
  assert.equal(outlineOf('chat', body), [
    '0 system system be',
    '1 user image -',
    '1 user text hi',
    '2 assistant thinking hm',
    '2 assistant tool_use {"p":1} tool=ls input={"p":1}',
    '3 tool tool_result out id=c1 tool=ls input={"p":1}',
    '4 tool tool_result out 2 id=c1 tool=ls input={"p":1}',
    '5 assistant text ok',
    '5 assistant tool_use {} tool=old input={}',
    '6 tool tool_result done tool=old input={}',
  ]);
});

test('responses: items of every kind are read, with outputs as text or as parts', () => {
  const body = {
    instructions: 'be kind',
    input: [
      { role: 'developer', content: 'rules' },
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'hi' }, { type: 'input_image' }],
      },
      { type: 'reasoning', summary: [], encrypted_content: 'x' },
      { type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{"cmd":"ls"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'out' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'a "b"' },
      {
        type: 'custom_tool_call_output',
        call_id: 'c2',
        output: [{ type: 'input_text', text: 'p' }],
      },
      { role: 'assistant', content: [{ type: 'output_text', text: 'ok', annotations: [{}] }] },
      { type: 'web_search_call', id: 'w' },
    ],
  };
  assert.equal(outlineOf('responses', body), [
    '-1 system system be kind',
    '0 system system rules',
    '1 user text hi',
    '1 user image -',
    '2 assistant thinking -',
    '3 assistant tool_use {"cmd":"ls"} tool=shell input={"cmd":"ls"}',
    '4 tool tool_result out id=c1 tool=shell input={"cmd":"ls"}',
    '5 assistant tool_use a "b" tool=patch input="a \\"b\\""',
    '6 tool tool_result p id=c2 tool=patch input="a \\"b\\""',
    '7 assistant text ok cited',
    '8 assistant other -',
  ]);
  assert.equal(outlineOf('responses', { input: 'hi' }), ['0 user text hi']);
});

test('generative: both spellings are read, and responses without ids get the latest call of their name', () => {
  const body = {
    system_instruction: { parts: [{ text: 'be' }] },
    contents: [
      {
        parts: [
          { text: 'hi' },
          { inlineData: { mimeType: 'image/png' } },
          { file_data: { mime_type: 'a/pdf' } },
        ],
      },
      {
        role: 'model',
        parts: [{ text: 'hm', thought: true }, { functionCall: { name: 'ls', args: { p: 1 } } }],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'ls', response: { output: 'out', n: 1 } } }],
      },
      { role: 'model', parts: [{ function_call: { id: 'f1', name: 'ls', args: { p: 2 } } }] },
      {
        role: 'user',
        parts: [{ function_response: { id: 'f1', name: 'ls', response: { error: 'no' } } }],
      },
      { role: 'user', parts: [{ functionResponse: { name: 'new', response: { n: 1 } } }] },
    ],
  };
  assert.equal(outlineOf('generative', body), [
    '-1 system system be',
    '0 user text hi',
    '0 user image -',
    '0 user document -',
    '1 assistant thinking hm',
    '1 assistant tool_use - tool=ls input={"p":1}',
    '2 tool tool_result out tool=ls input={"p":1}',
    '3 assistant tool_use - tool=ls input={"p":2}',
    '4 tool tool_result no id=f1 tool=ls input={"p":2} error',
    '5 tool tool_result - tool=new',
  ]);
});

test('facts: limits, usage options and thinking are read in each dialect', () => {
  const { messages, chat, responses, generative, opaque } = dialects;
  const thinking = messages.facts(
    { max_tokens: 9, thinking: { type: 'adaptive' } },
    '/v1/messages',
  );
  assert.equal([thinking.maxOutputTokens, thinking.hasThinking, thinking.stream], [9, true, false]);
  assert.not(messages.facts({ thinking: { type: 'disabled' } }, '/v1/messages').hasThinking);
  const chatFacts = chat.facts(
    { max_completion_tokens: 5, max_tokens: 6, stream_options: { include_usage: true } },
    '/v1/chat/completions',
  );
  assert.equal([chatFacts.maxOutputTokens, chatFacts.usageOption], [5, 'wanted']);
  assert.ok(chat.facts({ reasoning_effort: 'low', functions: [{}] }, '').hasThinking);
  assert.not(chat.facts({ reasoning_effort: 'none' }, '').hasThinking);
  assert.is(responses.facts({ max_output_tokens: 4, reasoning: {} }, '').maxOutputTokens, 4);
  const config = { generationConfig: { maxOutputTokens: 3, thinkingConfig: {} } };
  const facts = generative.facts(config, '/v1beta/models/g-1:streamGenerateContent?alt=sse');
  assert.equal([facts.model, facts.stream, facts.maxOutputTokens], ['g-1', true, 3]);
  assert.ok(facts.hasThinking);
  assert.is(opaque.facts(undefined, '/v1beta/models/g:countTokens').model, 'g');
});

test.run();
