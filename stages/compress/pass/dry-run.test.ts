import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dialects } from '../../dialect/registry.ts';
import { resolveEndpoint } from '../../dialect/endpoints.ts';
import { toRequest } from '../../model/request.ts';
import { dryRun } from './dry-run.ts';
import type { JobOptions } from '../worker/job.ts';

const options: JobOptions = {
  mode: 'hybrid',
  maxChars: 120,
  thresholdTokens: 0,
  logBudgetTokens: 3500,
};

function requestOf(messages: readonly object[]) {
  const json = { model: 'm', max_tokens: 10, messages };
  const bytes = Buffer.from(JSON.stringify(json));
  const target = '/v1/messages';
  const endpoint = resolveEndpoint('POST', target, []);
  if (endpoint === undefined || 'allow' in endpoint) throw new Error('no endpoint');
  const dialect = dialects.messages;
  const body = {
    kind: 'body' as const,
    method: 'POST',
    target,
    headers: [],
    wireBytes: bytes,
    bytes,
    endpoint,
  };
  return toRequest({ body, dialect, facts: dialect.facts(json, target), json });
}

const grepOutput = Array.from(
  { length: 60 },
  (_, n) => `src/components/navigation/SidebarItem.tsx:${n + 1}:  const item${n} = useItem(${n});`,
).join('\n');

const call = (id: string) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'Grep', input: {} }],
});
const result = (id: string) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: grepOutput }],
});

test('reports each block with the algorithms used, or the reason why it is unchanged', async () => {
  const blocks = await dryRun(
    requestOf([{ role: 'user', content: 'Where?' }, call('a'), result('a')]),
    options,
  );
  assert.equal(
    blocks.map(({ index, reason, changed }) => [index, reason, changed]),
    [
      [0, 'typed', false],
      [1, 'tool_call', false],
      [2, null, true],
    ],
  );
  const last = blocks[2]!;
  assert.is(last.textClass, 'grep');
  assert.is(last.before, grepOutput);
  assert.ok(last.tokensAfter < last.tokensBefore);
  assert.ok(last.by.length > 0);
});

test('changes nothing in strict mode', async () => {
  const request = requestOf([{ role: 'user', content: 'Where?' }, call('a'), result('a')]);
  const blocks = await dryRun(request, { ...options, mode: 'strict' });
  assert.not.ok(blocks.some(({ changed }) => changed));
});

test('keeps the question below a pasted text that cannot be made smaller', async () => {
  const line = 'The quick brown fox jumps over the lazy dog. '.repeat(100);
  const content = `Remember this: ${line}\n\nWhat does the fox jump over?`;
  const [block] = await dryRun(requestOf([{ role: 'user', content }]), options);
  assert.ok(block!.after.endsWith('What does the fox jump over?'));
  if (!block!.changed) assert.is(block!.after, content);
  assert.equal(block!.by.length > 0, block!.changed);
});

test.run();
