/** Responses that differ from how the providers write them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dialects } from './registry.ts';
import { bytesOf, observe, observeEach } from '../../fixtures/dialect/usage.ts';

test('a last event that repeats all of a long answer is read like a short one', () => {
  const output = [{ type: 'image_generation_call', result: 'x'.repeat(1_500_000) }];
  const response = { model: 'm', output, usage: { input_tokens: 7, output_tokens: 9 } };
  const payload = JSON.stringify({ type: 'response.completed', response });
  const bytes = Buffer.from(`event: response.completed\ndata: ${payload}\n\n`);
  const parts = Array.from({ length: Math.ceil(bytes.length / 32_768) }, (_, i) =>
    bytes.subarray(i * 32_768, (i + 1) * 32_768),
  );
  const observer = observe(dialects.responses, true, parts);
  assert.equal([observer.usage().inputTokens, observer.usage().outputTokens], [7, 9]);
  assert.ok(observer.terminated());
});

test('an answer with a byte order mark is read like one without', () => {
  const long = 'x'.repeat(20_000);
  for (const pad of ['', long]) {
    const text = JSON.stringify({ model: 'm', choices: [], pad, usage: { prompt_tokens: 3 } });
    for (const streaming of [true, false]) {
      const bytes = Buffer.from(`\uFEFF${streaming ? 'data: ' : ''}${text}\n\n`);
      for (const parts of [[bytes], bytesOf(bytes)]) {
        const observer = observe(dialects.chat, streaming, parts);
        assert.is(observer.usage().inputTokens, 3, `${text.length} bytes, streaming ${streaming}`);
        assert.is(observer.model(), 'm');
      }
    }
  }
  const list = JSON.stringify([{ usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 } }]);
  const observed = observe(dialects.generative, true, bytesOf(Buffer.from(`\uFEFF${list}`)));
  assert.is(observed.usage().inputTokens, 4);
});

test('the kind of an answer is recognised after leading white space, however it is split', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 7 };
  const document = Buffer.from(JSON.stringify({ model: 'm', choices: [], usage }));
  const event = Buffer.from(`data: ${JSON.stringify({ model: 'm', pad: 'x'.repeat(5000) })}\n\n`);
  for (const blanks of [0, 1, 31, 32, 40, 5000]) {
    const before = Array.from({ length: blanks }, () => Buffer.from('\n'));
    for (const read of [observe, observeEach]) {
      const reported = read(dialects.chat, true, [...before, document]);
      assert.is(reported.usage().inputTokens, 5, `${blanks} blanks`);
      assert.is(reported.model(), 'm');
      const cut = event.indexOf('{');
      const stream = [event.subarray(0, cut), event.subarray(cut), Buffer.from('data: [DONE]\n\n')];
      const observed = read(dialects.chat, true, [...before, event, ...stream]);
      assert.ok(observed.terminated(), `${blanks} blanks`);
      assert.not.ok(observed.isCutShort(), `${blanks} blanks`);
    }
  }
});

test('the model is found in a stream without usage', () => {
  const text = ': hi\n\ndata: {"model":"","choices":[]}\n\ndata: {"model":"m-1","choices":[]}\n\n';
  assert.is(observe(dialects.chat, true, [Buffer.from(text)]).model(), 'm-1');
});

test('invalid, truncated and hostile answers are unmeasured and never throw', () => {
  const hostile = [
    '',
    'null',
    '{"usage":',
    '{"usage":{"prompt_tokens":"many","completion_tokens":null}}',
    `{"usage":${'['.repeat(5000)}`,
    'data: {"usage":{"prompt_tokens":\n\ndata: _tokens"\n\n',
    '\u0000\r\r\n_tokens"\n\nTokenCount usage":',
  ];
  for (const dialect of Object.values(dialects)) {
    for (const text of hostile) {
      for (const streaming of [true, false]) {
        const observer = observe(dialect, streaming, [Buffer.from(text)]);
        assert.is(observer.usage().inputTokens, null, `${dialect.name} ${text.slice(0, 40)}`);
        assert.is(observer.model(), undefined);
        observer.terminated();
        assert.not(observer.failed());
      }
    }
  }
});

test.run();
