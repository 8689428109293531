import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { resolveEndpoint } from '../../dialect/endpoints.ts';
import { dialects } from '../../dialect/registry.ts';
import { toRequest } from '../../model/request.ts';
import type { ProxyRequest } from '../../model/request.ts';
import { labelOf, noLabelCounts } from './block-label.ts';
import { toConversationBlocks } from './blocks.ts';
import { compressConversation, emptyState } from './conversation.ts';
import type { ConversationBlock } from './blocks.ts';
import { CONVERSATION, SOURCE } from '../../../fixtures/compress/texts.ts';
import { restoreReferences } from '../decode/decoders.ts';

test('numbers tool results in the order in which a reader counts them', () => {
  const result = (message: number, toolUseId: string, text: string, kind = 'tool_result') => ({
    role: 'tool',
    kind: kind as ConversationBlock['kind'],
    message,
    toolUseId,
    toolName: 'read',
    text,
  });
  const other = SOURCE.replaceAll('load', 'read');
  const blocks = [
    result(1, 'a', '', 'other'),
    result(1, 'b', 'part one'),
    result(1, 'b', '', 'other'),
    result(1, 'b', other),
    result(3, 'c', SOURCE),
    result(5, 'd', SOURCE),
    result(7, 'e', other),
  ].map((block, index) => ({ ...block, index }));
  const state = emptyState();
  const out = compressConversation(blocks, CONVERSATION, undefined, state);
  assert.is(out[5]!.text, '[svc lines 1–80 of result 3 (read) again]');
  assert.is(out[6]!.text, '[svc part 3 of result 2 (read), lines 1-80]');
  assert.is(restoreReferences(state.sent, out[6]!.text), other);
});

const IMAGE = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };
const parts = (type: string) => [1, 2, 3].map((n) => ({ type, text: `part ${n}` }));

/**
 * The same conversation in each dialect: an image, three parts, nothing, and the same file twice.
 */
const REQUESTS = {
  messages: {
    path: '/v1/messages',
    body: {
      max_tokens: 1,
      messages: [
        [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
        parts('text'),
        [],
        SOURCE,
        SOURCE,
      ].flatMap((content, n) => [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: `t${n}`, name: 'read', input: {} }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${n}`, content }] },
      ]),
    },
  },
  chat: {
    path: '/v1/chat/completions',
    body: {
      messages: [
        [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
        parts('text'),
        null,
        SOURCE,
        SOURCE,
      ].flatMap((content, n) => [
        {
          role: 'assistant',
          tool_calls: [
            { id: `t${n}`, type: 'function', function: { name: 'read', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: `t${n}`, content },
      ]),
    },
  },
  responses: {
    path: '/v1/responses',
    body: {
      input: [[IMAGE], parts('input_text'), [], SOURCE, SOURCE].flatMap((output, n) => [
        { type: 'function_call', call_id: `t${n}`, name: 'read', arguments: '{}' },
        { type: 'function_call_output', call_id: `t${n}`, output },
      ]),
    },
  },
} as const;

function requestOf(name: keyof typeof REQUESTS): ProxyRequest {
  const { path, body } = REQUESTS[name];
  const json = { model: 'm', ...body };
  const bytes = Buffer.from(JSON.stringify(json));
  const endpoint = resolveEndpoint('POST', path, []);
  if (endpoint === undefined || 'allow' in endpoint) throw new Error('no endpoint');
  const frame = { kind: 'body', method: 'POST', target: path, headers: [], endpoint } as const;
  const dialect = dialects[name];
  const facts = dialect.facts(json, path);
  return toRequest({ body: { ...frame, bytes, wireBytes: bytes }, dialect, facts, json });
}

for (const name of ['messages', 'chat', 'responses'] as const) {
  test(`labels a repeated file with the result that first contained it: ${name}`, () => {
    const out = compressConversation(toConversationBlocks(requestOf(name)), CONVERSATION);
    assert.is(out.at(-1)!.text, '[svc lines 1–80 of result 4 (read) again]');
  });
}

test('labels a result with its command, without a leading cd or environment', () => {
  for (const [command, name] of [
    ['cd /home/a/project && CI=1 npm run publish', 'npm run publish'],
    ['cd "/srv/my work/app.js"; ls -la src/lib', 'ls -la lib'],
    ['NODE_ENV=test node src/run.ts --all', 'node run.ts --all'],
    ['git commit -m "Mend a.ts"', 'git commit -m "Mend a.ts…'.slice(0, 23) + '…'],
    ['git show 77aa77aa 2>/dev/null | head', 'git show 77aa77aa | head'],
    ['cat src/a.ts', 'a.ts'],
    ["sed -n '1,40p' src/b.ts 2>&1", 'b.ts'],
    ['pytest tests/test_a.py -q', 'pytest test_a.py -q'],
    ['cd src/lib', 'cd lib'],
  ] as const) {
    const block = { index: 0, role: 'tool', kind: 'tool_result', text: '' } as const;
    assert.is(labelOf(block, { command }, noLabelCounts()), `result 1 (${name})`);
  }
});

test.run();
