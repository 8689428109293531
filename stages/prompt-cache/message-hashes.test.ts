import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { requestOf } from '../../fixtures/compress/stage.ts';
import { objectOf } from '../dialect/json-kind.ts';
import type { BlockHistory } from '../model/block-history.ts';
import { appendText, replaceTexts, toRequest } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import { hashMessages } from './message-hashes.ts';

const IMAGE = { type: 'image', source: { type: 'base64', data: 'AAAA' } };

const turn = (n: number, more: readonly object[] = []): readonly object[] => [
  { role: 'assistant', content: [{ type: 'tool_use', id: `t${n}`, name: 'Bash', input: { n } }] },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: `t${n}`, content: `${n}` }, ...more],
  },
];

const sent = (short: string, ...messages: readonly object[]): ProxyRequest => {
  const request = requestOf({ system: 'Be brief.', messages });
  const results = request.original.blocks().filter(({ kind }) => kind === 'tool_result');
  return replaceTexts(request, new Map(results.map((block) => [block, `${short}${block.text}`])));
};

/** Makes a request one of those that share `history`. */
const withHistory = (request: ProxyRequest, history: BlockHistory): ProxyRequest => {
  const { body, dialect, facts, json } = request.original;
  return { ...request, original: toRequest({ body, dialect, facts, json, history }).original };
};

const hashesOf = (request: ProxyRequest): string =>
  hashMessages(request, objectOf(request.original.json));

test('the hashes are the same whatever the request before was', () => {
  const other = [{ type: 'text', text: 'Look.' }];
  const requests = [
    sent('', ...turn(1), ...turn(2)),
    sent('', ...turn(1), ...turn(2), ...turn(3)),
    // The same texts, sent differently.
    sent('short ', ...turn(1), ...turn(2), ...turn(3)),
    appendText(sent('short ', ...turn(1), ...turn(2, other)), 3, ' Mind the gap.'),
    appendText(sent('short ', ...turn(1), ...turn(2, other)), 3, ' Mind it.'),
    // A block more or less, another kind or call of the same text, and what has no text.
    sent('short ', ...turn(1, other), ...turn(2)),
    sent('short ', ...turn(1, [IMAGE]), ...turn(2)),
    sent(
      'short ',
      ...turn(1, [{ ...IMAGE, source: { type: 'base64', data: 'BBBB' } }]),
      ...turn(2),
    ),
    sent('', { role: 'user', content: '1' }, ...turn(1)),
    sent('', { role: 'assistant', content: '1' }, ...turn(1)),
    sent(
      '',
      ...turn(1).map((one) => JSON.parse(JSON.stringify(one).replaceAll('t1', 't9')) as object),
    ),
    sent('', ...turn(1)),
  ];
  for (const before of requests)
    for (const request of requests) {
      const history: BlockHistory = {
        before: undefined,
        now: undefined,
        places: { name: 'messages', start: 0, ends: [] },
        shared: new Map(),
      };
      hashesOf(withHistory(before, history));
      assert.is(hashesOf(withHistory(request, history)), hashesOf(request));
      // Also from what the last call left.
      assert.is(hashesOf(withHistory(before, history)), hashesOf(before));
    }
  assert.is(new Set(requests.map((request) => hashesOf(request))).size, requests.length);
});

test.run();
