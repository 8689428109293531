/** `promtool`, the checker of Prometheus, finds no fault in `/metrics`. */
import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';

test('promtool check metrics', () =>
  withProxy({}, async (t) => {
    for (const model of ['claude-fixture-1', 'a "quoted" \\ name\nof two lines', 'модель'])
      for (const stream of [true, false]) {
        const response = await fetch(`${t.proxy.url}/v1/messages`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': 'mine' },
          body: JSON.stringify({
            model,
            stream,
            max_tokens: 9,
            messages: [{ role: 'user', content: 'Hi' }],
          }),
        });
        await response.text();
      }
    await t.rows(6);
    const text = await (await fetch(`${t.proxy.url}/metrics`)).text();
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
    });
    assert.is(`${stdout}${stderr}`, '');
    assert.is(status, 0);
  }));

test.run();
