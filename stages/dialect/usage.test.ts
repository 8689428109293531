import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadWireResponses } from '../../fixtures/wire.ts';
import type { WireResponse } from '../../fixtures/wire.ts';
import type { ChunkEvent } from '../model/frame.ts';
import type { Usage } from '../model/usage.ts';
import { createSplitter } from '../wire/events.ts';
import type { Dialect, UsageObserver } from '../model/dialect.ts';
import { chatReader } from './chat/usage.ts';
import { generativeReader } from './generative/usage.ts';
import { messagesReader } from './messages/usage.ts';
import { opaqueReader } from './opaque/usage.ts';
import { dialects } from './registry.ts';
import { responsesReader } from './responses/usage.ts';
import { bytesOf, observe, observeEach } from '../../fixtures/dialect/usage.ts';

type WireAnswer = WireResponse & { readonly bytes: Buffer };

function dialectOf(one: WireAnswer): Dialect {
  return one.dialect === 'completions' ? dialects.chat : dialects[one.dialect];
}

/**
 * Returns the counts as fixtures state them: they have 0 if nothing was cached, we null if nothing
 * was reported.
 */
function toCounts(usage: Usage): WireResponse['facts']['usage'] {
  if (usage.inputTokens === null) return null;
  return {
    input: usage.inputTokens,
    output: usage.outputTokens ?? 0,
    cacheRead: usage.cacheReadTokens ?? 0,
    cacheWrite: usage.cacheWriteTokens ?? 0,
  };
}

function pieces(parts: readonly Buffer[]): ChunkEvent[] {
  const splitter = createSplitter();
  const events = parts.flatMap((part) => splitter.push(part));
  const rest = splitter.rest();
  return rest === undefined ? events : [...events, rest];
}

/** Returns where chunks were cut and what was read. */
function outlineOf(events: readonly ChunkEvent[]): string {
  return events.map((e) => `${e.bytes.length} ${e.event ?? '-'} ${e.data ?? '-'}`).join('\n');
}

/** Without `[DONE]`, the last choice's finish reason still shows that nothing is missing. */
const FINISHED_WITHOUT_DONE = 'chat/text-no-done.sse';

for (const one of loadWireResponses()) {
  test(`${one.file} gives the same usage at every split`, () => {
    const dialect = dialectOf(one);
    const expected = JSON.stringify(one.facts.usage);
    for (let cut = 0; cut <= one.bytes.length; cut += 1) {
      const parts = [one.bytes.subarray(0, cut), one.bytes.subarray(cut)];
      for (const read of [observe, observeEach]) {
        const usage = toCounts(read(dialect, one.streaming, parts).usage());
        assert.is(JSON.stringify(usage), expected, `cut at ${cut}`);
      }
    }
    for (const observer of [
      observe(dialect, one.streaming, [one.bytes]),
      observe(dialect, one.streaming, bytesOf(one.bytes)),
      observeEach(dialect, one.streaming, bytesOf(one.bytes)),
    ]) {
      assert.equal(toCounts(observer.usage()), one.facts.usage);
      if (one.status !== 200) continue;
      assert.is(observer.failed(), one.facts.error !== null);
      const isComplete = one.facts.complete || one.file === FINISHED_WITHOUT_DONE;
      if (one.facts.error === null) assert.is(observer.terminated(), isComplete);
    }
    const passed = observe(dialects.opaque, one.streaming, [one.bytes]);
    assert.equal(toCounts(passed.usage()), one.facts.usage, 'unread, the figures are recognised');
    assert.is(passed.model(), observe(dialect, one.streaming, [one.bytes]).model());
  });

  test(`${one.file} gives the same usage if its end is known`, () => {
    const dialect = dialectOf(one);
    const [plain, ended] = [1, 2].map(() => observe(dialect, one.streaming, [one.bytes]));
    ended!.ended?.();
    const factsOf = (o: UsageObserver) => [o.usage(), o.model(), o.terminated(), o.isCutShort()];
    assert.equal(factsOf(ended!), factsOf(plain!));
  });

  if (!one.streaming || one.file.endsWith('.json')) continue;
  test(`${one.file} is split into the same events at every split`, () => {
    const whole = pieces([one.bytes]);
    assert.ok(Buffer.concat(whole.map((piece) => piece.bytes)).equals(one.bytes));
    const expected = outlineOf(whole);
    for (let cut = 0; cut <= one.bytes.length; cut += 1) {
      const cutAt = [one.bytes.subarray(0, cut), one.bytes.subarray(cut)];
      assert.is(outlineOf(pieces(cutAt)), expected, `cut at ${cut}`);
    }
    assert.is(outlineOf(pieces(bytesOf(one.bytes))), expected);
  });

  test(`${one.file} has its content before its end`, () => {
    const dialect = dialectOf(one);
    const events = pieces([one.bytes]);
    const content = events.findIndex(
      (e) => e.data !== undefined && dialect.isContent(e.event, e.data),
    );
    const end = events.findIndex(
      (e) => e.data !== undefined && dialect.isTerminator(e.event, e.data),
    );
    const hasContent = one.facts.text + one.facts.thinking !== '' || one.facts.toolCalls.length > 0;
    if (hasContent) assert.ok(content >= 0, 'content is detected');
    if (one.facts.complete) assert.ok(end >= content, 'the end is found only after the content');
    if (one.dialect === 'messages' || one.dialect === 'responses') {
      assert.is.not(content, 0, 'the first event is an announcement');
    }
  });
}

test('nothing is read from a document that breaks off at the end of an inner object', () => {
  const inner = '{"usage":{"input_tokens":1,"output_tokens":1}}';
  const text = `{"id":"1","model":"m","content":[{"type":"tool_use","name":"t","input":${inner}`;
  const observer = observe(dialects.messages, false, [Buffer.from(text)]);
  assert.is(observer.usage().inputTokens, null);
  assert.equal([observer.terminated(), observer.isCutShort()], [false, true]);
});

function messagesUsage(...figures: readonly object[]): Usage {
  const [start, ...deltas] = figures;
  const events = [
    { type: 'message_start', message: { model: 'm', usage: start } },
    ...deltas.map((usage) => ({ type: 'message_delta', delta: {}, usage })),
  ];
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  return observe(dialects.messages, true, [Buffer.from(text)]).usage();
}

test('messages: one-hour writes are part of all writes, and the final totals count', () => {
  const start = {
    input_tokens: 10,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    output_tokens: 1,
  };
  const end = {
    output_tokens: 50,
    input_tokens: 12,
    output_tokens_details: { thinking_tokens: 7 },
  };
  assert.equal(messagesUsage(start, end), {
    inputTokens: 12,
    outputTokens: 50,
    cacheReadTokens: 5,
    cacheWriteTokens: 30,
    cacheWrite1hTokens: 20,
    reasoningTokens: 7,
    estimated: false,
  });
});

function chatUsage(usage: object): Usage {
  return observe(dialects.chat, false, [Buffer.from(JSON.stringify({ usage }))]).usage();
}

test('chat: cached tokens are subtracted from the prompt, under any of their names', () => {
  const base = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  const cached = [
    { prompt_tokens_details: { cached_tokens: 60 } },
    { prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 },
    { cached_tokens: 60 },
    { num_cached_tokens: 60 },
  ];
  for (const more of cached) {
    const usage = chatUsage({ ...base, ...more });
    assert.is(usage.inputTokens, 40, JSON.stringify(more));
    assert.is(usage.cacheReadTokens, 60);
  }
  const both = { prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 60 } };
  const usage = chatUsage({ ...base, ...both });
  const counts = [usage.inputTokens, usage.cacheReadTokens, usage.cacheWriteTokens];
  assert.equal(counts, [0, 60, 40], 'the parts add up to what the provider counted');
});

test('chat: reasoning is added to the completion only if it is not already included', () => {
  const details = { completion_tokens_details: { reasoning_tokens: 30 } };
  const inside = chatUsage({
    prompt_tokens: 5,
    completion_tokens: 40,
    total_tokens: 45,
    ...details,
  });
  const beside = chatUsage({
    prompt_tokens: 5,
    completion_tokens: 10,
    total_tokens: 45,
    ...details,
  });
  assert.equal([inside.outputTokens, inside.reasoningTokens], [40, 30]);
  assert.equal([beside.outputTokens, beside.reasoningTokens], [40, 30]);
});

test('embeddings have no output, and an answer without figures is unmeasured', () => {
  const embedding = { object: 'list', model: 'e', usage: { prompt_tokens: 8, total_tokens: 8 } };
  const observer = observe(dialects.opaque, false, [Buffer.from(JSON.stringify(embedding))]);
  assert.equal([observer.usage().inputTokens, observer.usage().outputTokens], [8, 0]);
  assert.is(observer.model(), 'e');
  const counted = observe(dialects.opaque, false, [Buffer.from('{"input_tokens":1581}')]);
  assert.is(counted.usage().inputTokens, null, 'a token count consumes no input');
});

test('generative: tools that the provider runs add input, and thoughts add output', () => {
  const usageMetadata = {
    promptTokenCount: 100,
    cachedContentTokenCount: 40,
    toolUsePromptTokenCount: 11,
    candidatesTokenCount: 20,
    thoughtsTokenCount: 30,
    totalTokenCount: 161,
  };
  const body = Buffer.from(JSON.stringify({ usageMetadata, modelVersion: 'g' }));
  const observer = observe(dialects.generative, false, [body]);
  const usage = observer.usage();
  assert.equal([usage.inputTokens, usage.cacheReadTokens], [71, 40]);
  assert.equal([usage.outputTokens, usage.reasoningTokens], [50, 30]);
  assert.is(observer.model(), 'g');
});

test('the needles for events are short enough for a fast search', () => {
  const readers = [chatReader, generativeReader, messagesReader, opaqueReader, responsesReader];
  const sizes = readers.flatMap(({ needles }) => needles.map((needle) => needle.length));
  assert.ok(Math.max(...sizes) <= 7, `needles of ${sizes.join(', ')} bytes`);
});

test('a text that mentions counts is not usage', () => {
  const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
  const saying = (content: string) =>
    event({ model: 'm', choices: [{ index: 0, delta: { content } }] });
  const stream = [
    saying('set max_tokens, '),
    event({ model: 'm', choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } }),
    saying('"usage": {"prompt_tokens": 9} and _tokens'),
    'data: [DONE]\n\n',
  ].join('');
  const usage = observe(dialects.chat, true, [Buffer.from(stream)]).usage();
  assert.equal([usage.inputTokens, usage.outputTokens], [3, 4]);
});

test('a final 0 in a messages stream does not overwrite earlier counts', () => {
  const lines = [
    'data: {"type":"message_start","message":{"usage":{"input_tokens":1200,"cache_read_input_tokens":700,"output_tokens":1}}}\n\n',
    'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":9}}\n\n',
  ];
  const observer = observe(
    dialects.messages,
    true,
    lines.map((line) => Buffer.from(line)),
  );
  const { inputTokens, cacheReadTokens, outputTokens } = observer.usage();
  assert.equal([inputTokens, cacheReadTokens, outputTokens], [1200, 700, 9]);
});

test.run();
