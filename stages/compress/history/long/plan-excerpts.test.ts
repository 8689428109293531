import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { times } from '../../../../fixtures/compress/texts.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';
import { resultKeys } from '../../pass/result-keys.ts';
import { planExcerpts } from './plan-excerpts.ts';

const read = (index: number, path: string, lines: number): ConversationBlock => ({
  index,
  role: 'user',
  kind: 'tool_result',
  text: times(lines, (n) => `line ${n} of ${path}`).join('\n'),
  toolName: 'Read',
  toolInput: { file_path: path },
});

const circumstances = { longTokens: 500, decided: new Map(), mayDecide: true };

test('does not read the tools of a request without a long result', () => {
  const blocks = [read(0, '/w/a.ts', 10), read(1, '/w/b.ts', 10)];
  const body = {
    get tools(): never {
      throw new Error('nobody needs the tools');
    },
  };
  const { blocks: same, allowed, heldBack } = planExcerpts(blocks, { ...circumstances, body });
  assert.is(same, blocks);
  assert.is(allowed.size + heldBack.length, 0);
});

test('returns the position and key of each result that may be sent in part, and not of a repeated one', () => {
  const blocks = [read(0, '/w/a.ts', 10), read(1, '/w/b.ts', 900), read(2, '/w/b.ts', 900)];
  const { blocks: made, allowed } = planExcerpts(blocks, { ...circumstances, body: {} });
  assert.equal([...allowed], [[1, resultKeys(blocks)[1]]]);
  assert.equal(
    made.map(({ rangeRequest }) => rangeRequest !== undefined),
    [false, true, false],
    'what is asked for again is needed whole',
  );
});

test('what is known of results from the turn before is known for its limit only', () => {
  const blocks = [read(0, '/w/a.ts', 10), read(1, '/w/b.ts', 900)];
  const places = { name: 'messages', start: 0, ends: [] };
  const history = { before: undefined, now: undefined, places, shared: new Map() };
  const allowed = [500, 500, 100_000, 500].map((longTokens) => [
    ...planExcerpts(blocks, { ...circumstances, longTokens, body: {}, history }).allowed.keys(),
  ]);
  assert.equal(allowed, [[1], [1], [], [1]]);
});

test.run();
