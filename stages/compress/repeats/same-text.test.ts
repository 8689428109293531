/** A text that is repeated verbatim after it was sent shortened or encoded. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compressConversation, emptyState } from '../pass/conversation.ts';
import type { ConversationBlock } from '../pass/blocks.ts';
import { restoreReferences } from '../decode/decoders.ts';
import { CONVERSATION } from '../../../fixtures/compress/texts.ts';

const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');
const two = (n: number): string => String(n % 60).padStart(2, '0');

/** Each with the command that prints it. */
const PRINTED: Readonly<Record<string, string>> = {
  'docker logs api': lines(
    100,
    (n) =>
      `\u001b[32m2026-03-01 10:${two(n)}:00\u001b[0m INFO job ${(n * 7919) % 100_003} done in ${(n * 31) % 977} ms`,
  ),
  'journalctl -u api': lines(
    900,
    (n) =>
      `2026-03-01T10:${two(n)}:${two(n * 7)}.${n}Z INFO job ${(n * 7919) % 100_003} done in ${(n * 31) % 977} ms`,
  ),
  'rg value src': lines(
    80,
    (n) => `src/parts/deep/mod-${n % 7}.ts:${n}: const value${n} = ${n * 31};`,
  ),
  'find src -type f': lines(90, (n) => `./src/group-${n % 5}/item-${(n * 7919) % 1009}.ts`),
  'curl -s localhost/items': JSON.stringify(
    Array.from({ length: 40 }, (_, id) => ({ id, name: `item ${id * 7919}`, done: id % 3 === 0 })),
    null,
    2,
  ),
  'git diff':
    'diff --git a/a.c b/a.c\nindex 1234567..89abcde 100644\n--- a/a.c\n+++ b/a.c\n' +
    lines(14, (n) =>
      [
        `@@ -${n * 40 + 1},9 +${n * 40 + 1},9 @@ int f${n}()`,
        ...[1, 2, 3, 4].map((k) => ` line ${n} with value ${k * n}`),
        `-  old ${n};`,
        `+  new ${n};`,
        ...[5, 6, 7, 8].map((k) => ` line ${n} with value ${k * n}`),
      ].join('\n'),
    ),
};

const results = (...printed: readonly (readonly [string, string])[]): ConversationBlock[] =>
  printed.map(([command, text], index) => ({
    index,
    role: 'tool',
    kind: 'tool_result',
    text,
    toolName: 'Bash',
    toolInput: { command },
  }));

for (const mode of ['hybrid', 'aggressive'] as const)
  for (const [command, text] of Object.entries(PRINTED))
    test(`refers a repeated output of ${command} to its first, compressed copy, in ${mode}`, () => {
      const state = emptyState();
      const options = { ...CONVERSATION, mode };
      const blocks = results([command, text], [command, text], [command, text]);
      const [first, second, third] = compressConversation(blocks, options, undefined, state);
      assert.ok(first!.changed);
      for (const again of [second!, third!]) {
        assert.ok(
          again.tokensAfter < first!.tokensAfter / 3,
          `${again.tokensAfter}: ${again.text}`,
        );
        assert.is(restoreReferences(state.sent, again.text), first!.text);
        assert.ok(again.repeatedLines > 0);
      }
      // Later blocks do not change what was sent.
      assert.equal(compressConversation(blocks.slice(0, 2), options), [first, second]);
    });

test('repeats the counts of equal lines below a reference to them', () => {
  const text = [
    'Creating the database of all the tests',
    'Found 60 tests in the folders that were given',
    ...Array.from({ length: 9 }, () => 'Cloning the database for one more process'),
    PRINTED['journalctl -u api'],
    ...Array.from({ length: 9 }, () => 'Destroying the database of one process'),
    'Ran 60 tests in 2.1s',
    'done with all of it',
    'OK',
  ].join('\n');
  const blocks = results(['make check', text], ['make check', text]);
  const [first, again] = compressConversation(blocks, CONVERSATION);
  const counted = first!.text.match(/^.*\n\[svc the line above 8 more times\]$/gm);
  assert.is(counted?.length, 2);
  for (const each of counted!) assert.ok(again!.text.includes(each), again!.text);
  assert.match(again!.text, 'result 1 (make check)');
});

test('sends a short text again in its compressed form', () => {
  const text = PRINTED['rg value src']!.split('\n').slice(0, 16).join('\n');
  const state = emptyState();
  const blocks = results(['rg value src', text], ['rg value src', text]);
  const [first, second] = compressConversation(blocks, CONVERSATION, undefined, state);
  assert.ok(first!.changed);
  assert.is(second!.text, first!.text);
});

test('makes no reference to earlier results if the provider may drop turns', () => {
  const [[command, text]] = Object.entries(PRINTED) as [[string, string]];
  const [first, second] = compressConversation(results([command, text], [command, text]), {
    ...CONVERSATION,
    forgets: true,
  });
  assert.ok(first!.changed);
  assert.is(second!.text, first!.text);
});

test('does not treat a different output of the same command as a repeat', () => {
  const command = 'find src -type f';
  const text = PRINTED[command]!;
  const [, second] = compressConversation(
    results([command, text], [command, `${text}\n./src/one-more.ts`]),
    CONVERSATION,
  );
  assert.is(second!.repeatedLines, 0);
});

test.run();
