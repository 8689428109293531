/** Failed responses: no client may mistake one for a success. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError } from '../../../engine/error.ts';
import { chunk, make, messagesStream, run, skipOf } from '../../../fixtures/dialect/translation.ts';
import { translateError, type TranslatableDialect } from './translate.ts';

test('a stream that is cut off or begins twice ends in an error, and nothing follows it', () => {
  for (const to of ['chat', 'generative', 'responses'] as const) {
    const one = make('messages', to);
    const wire = run(one, messagesStream.slice(0, 8));
    assert.match(wire, /cut off/);
    assert.not.match(wire, /\[DONE\]|"finishReason"|response\.completed/);
    assert.equal(one.end(), []);
  }
  const twice = run(make('messages', 'chat'), [messagesStream[0], messagesStream[0]]);
  assert.match(twice, /second message/);
});

test('an error inside a stream reaches the client as an error', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } };
  const providerError = run(make('messages', 'chat'), [messagesStream[0], overloaded]);
  assert.match(providerError, /data: \{"error":\{"message":"Busy","type":"overloaded_error"/);
});

test('arguments that are not JSON never reach a client that parses them', () => {
  const broken = [
    chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x' } }] }),
    chunk({}, 'tool_calls'),
    '[DONE]',
  ];
  const wire = run(make('chat', 'messages'), broken);
  assert.match(wire, /event: error/);
  assert.not.match(wire, /message_stop/);
  assert.match(run(make('chat', 'responses'), broken), /response\.completed/);
  const whole = {
    choices: [
      { message: { tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{"x' } }] } },
    ],
  };
  assert.throws(() => make('chat', 'messages').json(whole), /not a JSON object/);
});

test('a call cut off by the output limit is not a failure, and the client gets the limit as the reason', () => {
  const cut = [
    chunk({ content: 'I write it.' }),
    chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":"lo' } }] }),
    chunk({}, 'length'),
    { choices: [], usage: { prompt_tokens: 5, completion_tokens: 9 } },
    '[DONE]',
  ];
  const events = run(make('chat', 'messages'), cut);
  assert.match(events, /"partial_json":"{[^]*content_block_stop[^]*"max_tokens"/);
  assert.match(events, /"output_tokens":9[^]*message_stop/);
  assert.not.match(events, /"error"/);
  const call = { id: 'a', function: { name: 'f', arguments: '{"x":"lo' } };
  for (const finish_reason of ['length', 'content_filter']) {
    const message = { content: 'I write it.', tool_calls: [call] };
    const whole = { choices: [{ message, finish_reason }] };
    const answer = make('chat', 'messages').json(whole).toString();
    assert.match(answer, /I write it/);
    assert.match(answer, finish_reason === 'length' ? /max_tokens/ : /refusal/);
    assert.not.match(answer, /tool_use/);
    assert.throws(() => make('chat', 'generative').json(whole), /not a JSON object/);
  }
  assert.match(run(make('chat', 'generative'), cut), /"error":/);
});

test('an incomplete call followed by another one is still a failure', () => {
  const call = (index: number, text: string): object =>
    chunk({ tool_calls: [{ index, id: `c${index}`, function: { name: 'f', arguments: text } }] });
  const broken = [call(0, '{"x'), call(1, '{}'), chunk({}, 'length'), '[DONE]'];
  const wire = run(make('chat', 'messages'), broken);
  assert.match(wire, /event: error/);
  assert.not.match(wire, /message_stop/);
});

test('an answer that failed at the provider is not reported as a success', () => {
  const malformed = { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] };
  assert.throws(() => make('generative', 'chat').json(malformed), /broke its answer off/);
  const wire = run(make('generative', 'messages'), [malformed]);
  assert.match(wire, /event: error/);
  assert.match(wire, 'broke its answer off: MALFORMED_FUNCTION_CALL');
  const finish = { finishReason: 'UNEXPECTED_TOOL_CALL', finishMessage: 'No such tool: grep' };
  const other = run(make('generative', 'responses'), [{ candidates: [finish] }]);
  assert.match(other, 'broke its answer off: No such tool: grep');
  assert.throws(
    () => make('generative', 'chat').json({ candidates: [finish] }),
    /broke its answer off: No such tool: grep/,
  );
  assert.throws(() => make('chat', 'messages').json({ error: { message: 'No' } }), /No/);
  assert.throws(() => make('chat', 'messages').json('<html>'), /no choice/);
});

test('unknown parts and chunks do not stop an answer', () => {
  const unknownParts = [
    chunk({
      content: [
        { type: 'reference', reference_ids: [1] },
        { type: 'text', text: 'Hi' },
      ],
    }),
    chunk({ content: [{ type: 'thinking', thinking: [{ type: 'new' }, 7] }] }),
    chunk({ tool_calls: 'none', content: 5 }),
    { choices: [null, 3], usage: 'free' },
    chunk({}, 'stop'),
    chunk({ content: ' there' }),
    '[DONE]',
  ];
  const wire = run(make('chat', 'messages'), unknownParts);
  assert.match(wire, /"text":"Hi"[^]*"text":" there"[^]*content_block_stop[^]*message_stop/);
});

test('for any JSON, requests are translated or skipped, and answers end', () => {
  const all: readonly TranslatableDialect[] = ['messages', 'chat', 'generative', 'responses'];
  const body = fc.record(
    {
      messages: fc.array(fc.jsonValue()),
      contents: fc.jsonValue(),
      input: fc.array(fc.jsonValue()),
      tools: fc.array(fc.jsonValue()),
      system: fc.jsonValue(),
      choices: fc.jsonValue(),
      candidates: fc.jsonValue(),
      type: fc.constantFrom('message', 'content_block_delta', 'response.output_item.done'),
      output: fc.array(fc.jsonValue()),
      delta: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const pair = fc.tuple(fc.constantFrom(...all), fc.constantFrom(...all));
  fc.assert(
    fc.property(pair, body, ([from, to], value) => {
      skipOf(from, to, value);
      const wire = run(make(from, to), [value, value]);
      assert.ok(wire.endsWith('\n\n'), wire);
      assert.ok(Buffer.isBuffer(translateError(from, to, 500, value).body));
      try {
        make(from, to).json(value);
      } catch (thrown) {
        assert.is((thrown as SvcError).kind, 'bad_gateway', String(thrown));
      }
    }),
    { numRuns: 500 },
  );
});

test('a blocked prompt is a refusal without content', () => {
  const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: {} };
  const answer = JSON.parse(make('generative', 'messages').json(blocked).toString()) as object;
  assert.equal((answer as { content: unknown }).content, []);
  assert.is((answer as { stop_reason: unknown }).stop_reason, 'refusal');
});

test.run();
