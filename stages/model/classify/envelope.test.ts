import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openEnvelope } from './envelope.ts';

test('closing tags are cut with the blanks around them', () => {
  const text = 'line\nline two\n</stdout> \n</output>\n ';
  assert.is(openEnvelope(text).body, 'line\nline two');
  assert.is(openEnvelope(text).suffix, '\n</stdout> \n</output>\n ');
  assert.is(openEnvelope('line\n</other>\n').suffix, '');
  assert.is(openEnvelope('line \n').suffix, '');
});

test("every reminder behind a result is the client's", () => {
  const said =
    '\n\n<system-reminder>\nNever push.\n</system-reminder>\n<system-reminder>\nAsk.\n</system-reminder>\n';
  assert.is(openEnvelope(`line${said}`).body, 'line');
  assert.is(openEnvelope(`line\n</output>${said}`).body, 'line');
});

test('the three parts are the text', () => {
  for (const text of ['', ' ', '</output>', 'a</file></file>', `${'x'.repeat(300)}</content>`]) {
    const { prefix, body, suffix } = openEnvelope(text);
    assert.is(prefix + body + suffix, text);
  }
});

test('tags and blanks that close nothing after all cost no time', () => {
  const startMs = performance.now();
  for (const blanks of ['', ' ', '     ', '\n\n\n\n\n\n\n\n'])
    for (let count = 1; count < 20; count += 1)
      openEnvelope(`x${`</output>${blanks}`.repeat(count)}!`);
  assert.ok(performance.now() - startMs < 1000);
});

test.run();
