/** Who stands in for a provider that fails, as the configuration names them and as they answer. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { projectRoot } from '../../fixtures/paths.ts';
import { closeClients, exchange } from '../../server/testing.ts';
import { bodyOf, ownKey, saidBy, withPair } from './testing.ts';

const MESSAGES = { path: '/v1/messages', body: bodyOf('messages', false) };

/** The README's example of a fallback, with its local server where the spare provider is. */
function readmeExample(url: string): string {
  const readme = readFileSync(join(projectRoot, 'README.md'), 'utf8');
  const [, block = ''] = /## When a provider fails\s+```yaml\n([\s\S]*?)```/.exec(readme) ?? [];
  const yaml = block.replace('http://127.0.0.1:11434', url);
  assert.not.equal(yaml, block, 'the README names a local server');
  return yaml;
}

test("the README's example of a fallback works as it stands there", () =>
  withPair({ yaml: readmeExample }, async (t) => {
    t.upstream.script(undefined, '529');
    const got = await exchange(t.proxy.port, { ...MESSAGES, headers: ownKey('messages') });
    assert.is(got.status, 200, got.text);
    assert.ok(saidBy('messages', false, got.text).length > 0);
    const asked = t.spare.requests[0]!;
    assert.is(asked.target, '/v1/chat/completions');
    assert.is((JSON.parse(asked.body.toString()) as { model: string }).model, 'qwen3');
  }));

test.after(closeClients);
test.run();
