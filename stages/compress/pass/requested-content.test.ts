/**
 * Content that the question or the call asks for is always kept, and so is content unlike
 * everything else.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { times } from '../../../fixtures/compress/texts.ts';
import { bash, sentFor as sent, type Call } from '../../../fixtures/compress/compress-calls.ts';

const FILLER = times(
  14,
  (n) =>
    `The ${n}th matter of the harbour is told at some length by those who came by boat, and nobody wrote down when.`,
);

test('removes no sentence when the question has no content words', () => {
  const text = `${FILLER.join(' ')} The next boat starts its work again when all tasks are done. ${FILLER.map((line) => line.replace('boat', 'ferry').replace('told', 'written')).join(' ')}`;
  const call = bash('cat docs/harbour.md', text);
  for (const mode of ['hybrid', 'aggressive'] as const) {
    for (const question of [
      'Continue',
      'Go on with the next task',
      'ok, now start the work again please',
      'Yes, do it all',
    ])
      assert.is(sent(question, [call], mode)[0], text, question);
    assert.ok(sent('Who came by ferry?', [call], mode)[0]!.length < text.length);
  }
});

test('removes no sentence from messages between people, or from a file that the question names', () => {
  const wrote = times(
    30,
    (n) =>
      `The ${n}th boat lies at berth ${n * 7} of the harbour, and its owner asks whether the crane can lift ${n + 3} tons of it by spring.`,
  ).join(' ');
  for (const mode of ['hybrid', 'aggressive'] as const) {
    for (const tool of [
      'mcp__linear__get_issue',
      'jira_get_issue',
      'mcp__github__pull_request_read',
      'list_comments',
      'mcp__slack__conversations_history',
      'read_email',
      'get_meeting_transcript',
    ])
      assert.is(
        sent('Where does the crane stand?', [{ tool, input: { id: 7 }, text: wrote }], mode)[0],
        wrote,
        tool,
      );
    const read = (question: string, call: Call): string => sent(question, [call], mode)[0]!;
    const reader = { tool: 'Read', input: { file_path: '/app/docs/crane.md' }, text: wrote };
    for (const call of [reader, bash('cat docs/crane.md', wrote)]) {
      assert.is(read('Do what crane.md says', call), wrote);
      assert.ok(read('How many tons can the crane lift?', call).length < wrote.length);
    }
  }
});

test('keeps the one line in which a figure differs that is otherwise constant', () => {
  const stamp = (n: number): string =>
    `2026-11-28 10:${String(10 + (n % 50))}:${String(10 + (n % 49))} INFO `;
  const odd: readonly (readonly [(n: number) => string, string])[] = [
    [(n) => `host-${n} | rc=0 | changed`, 'host-4711 | rc=2 | changed'],
    [
      (n) => `copy ${n} digest 9f86d081884c7d659a2feaa0c55ad015`,
      'copy 4000 digest 9f86d081884c7d659a2feaa0c55ad016',
    ],
    [(n) => `host ${n} resolved to 10.0.0.7 port 443`, 'host 4000 resolved to 10.0.9.7 port 443'],
    [(n) => `node-${n} runs agent v2.4.1 (up)`, 'node-4000 runs agent v2.3.9 (up)'],
    [(n) => `job ${n} finished: exit 0`, 'job 4711 finished: exit 1'],
    [
      (n) => `sshd[${n}]: accepted key for deploy from 10.0.0.${n % 9} port ${n * 31}`,
      'sshd[4711]: accepted key for deploy from 203.0.113.9 port 4022',
    ],
    [(n) => `part-${n}@1.2.3 has peer 18.2.0`, 'part-4000@1.2.3 has peer 17.0.2'],
  ];
  for (const [usual, line] of odd)
    for (const mode of ['hybrid', 'aggressive'] as const) {
      const lines = times(1200, usual);
      lines.splice(603, 0, line);
      const text = lines.map((one, n) => stamp(n) + one).join('\n');
      const [out] = sent('How did it go?', [bash('./serve', text)], mode);
      assert.ok(out!.length < text.length / 4, line);
      assert.ok(out!.includes(line), `${mode} ${line}: ${out!.length}`);
    }
});

test('keeps the lines of a long log that the question or the call names', () => {
  const lines = times(
    1600,
    (n) =>
      `2026-11-28 10:${10 + (n % 50)}:01 INFO worker-${n % 8} handled order ord-${(n * 7919).toString(16)} for customer ${n % 97}`,
  );
  const line = '2026-11-28 10:20:01 INFO worker-3 handled order ord-77fa1x for customer 12';
  lines.splice(803, 0, line);
  for (const [question, command] of [
    ['What happened to order ord-77fa1x?', 'cat app.log'],
    ['Look at the log', 'cat app.log # where is "ord-77fa1x"?'],
  ] as const)
    for (const mode of ['hybrid', 'aggressive'] as const) {
      const [out] = sent(question, [bash(command, lines.join('\n'))], mode);
      assert.ok(out!.length < 20_000, `${out!.length}`);
      assert.match(out!, 'ord-77fa1x');
    }
});

test('keeps a requested list, and every file that a formatter reports, whatever the length', () => {
  const path = (n: number): string => `src/part-${n * 7}/of-the-shop.${['ts', 'js', 'md'][n % 3]}`;
  const lists: readonly (readonly [string, (n: number) => string])[] = [
    ['rsync -avn a/ b/', path],
    ['npm pack --dry-run', (n) => `npm notice ${n % 90}.1kB ${path(n)}`],
    ['make -n install', (n) => `install -m 644 ${path(n)} /usr/local/share/${path(n)}`],
    [
      'alembic history',
      (n) => `${(n * 7919).toString(16)} -> ${(n * 7927).toString(16)}, add part ${n}`,
    ],
    ['npx prettier --check .', (n) => `[warn] ${path(n)}`],
    ['black --check .', (n) => `would reformat ${path(n)}`],
  ];
  for (const [command, line] of lists)
    for (const mode of ['hybrid', 'aggressive'] as const) {
      const lines = times(600, line);
      const [out] = sent('What is in there?', [bash(command, lines.join('\n'))], mode);
      const seen = new Set(out!.split('\n'));
      assert.equal(
        lines.filter((one) => !seen.has(one)),
        [],
        `${command} ${mode}`,
      );
    }
  const [failed] = sent('Sync it', [
    bash(
      'rsync -avn a/ b/',
      `${times(600, path).join('\n')}\nrsync error: some files could not be transferred (code 23)`,
    ),
  ]);
  assert.match(failed!, 'svc omitted');
});

test.run();
