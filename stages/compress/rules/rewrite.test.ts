/**
 * Rules that are not built in run like built-in ones: selected by their conditions, in order, after
 * the same checks.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { estimateTokens } from '../../model/tokens.ts';
import { BUILT_IN_RULES, builtIn } from './built-in.ts';
import { createBlockCache } from '../pass/cache.ts';
import { compressConversation } from '../pass/conversation.ts';
import { rewrite, type Applied, type ApplyContext } from './rewrite.ts';
import type { Apply, Rule, When } from './rule.ts';
import {
  contextFor,
  CONVERSATION,
  SOURCE,
  STORY,
  times,
} from '../../../fixtures/compress/texts.ts';
import { joinKept } from '../text/marker.ts';

const REPORT = [
  '============================= test session starts ==============================',
  'platform linux -- Python 3.12.3, pytest-8.3.3, pluggy-1.5.0',
  'rootdir: /app',
  ...times(60, (n) => `tests/test_part${n % 7}.py::test_case_${n} PASSED`),
  'FAILED tests/test_app.py::test_login - assert 1 == 2',
  'FAILED tests/test_app.py::test_logout - assert 3 == 2',
  '========================= 2 failed, 60 passed in 4.2s ==========================',
].join('\n');

const without =
  (unwanted: RegExp): Apply =>
  (text) => {
    const lines = text.split('\n');
    return joinKept(
      lines,
      lines.map((line) => !unwanted.test(line)),
    );
  };

function rule(name: string, when: When, more: Partial<Rule> = {}): Rule {
  return { name, when, step: 'drop', apply: without(/PASSED/), ...more };
}

const { classification: _, ...PLAIN } = contextFor('log');
const ran = (command: string, more: Partial<ApplyContext> = {}): ApplyContext => ({
  ...PLAIN,
  hints: { toolName: 'Bash', command },
  ...more,
});

test('applies a rule only if all its conditions hold', () => {
  const cases: readonly (readonly [Omit<When, 'class'>, ApplyContext, boolean])[] = [
    [{ program: ['pytest'] }, ran('cd app && poetry run pytest -q | tail -90'), true],
    [{ program: ['pytest'] }, ran("bash -c 'python -m pytest'"), true],
    [{ program: ['pytest'] }, ran('npm test -- pytest'), false],
    [{ program: ['pytest'] }, { ...PLAIN, hints: {} }, false],
    [{ command: /^make\b/ }, ran('make check'), true],
    [{ command: /^make\b/ }, ran('npm run make'), false],
    [{ tool: /^Bash$/ }, ran('make'), true],
    [{ tool: /^Read$/ }, ran('make'), false],
    [{ tool: /^Bash$/, program: ['pytest'] }, ran('make'), false],
    [{ path: /\.log$/ }, { ...PLAIN, hints: { toolName: 'Read', path: 'a/test.log' } }, true],
    [{ path: /\.log$/ }, ran('make'), false],
    [{ extension: ['log'] }, { ...PLAIN, hints: { path: 'a/test.log' } }, true],
    [{ extension: ['txt'] }, { ...PLAIN, hints: { path: 'a/test.log' } }, false],
    [{ mode: ['aggressive'] }, ran('make'), false],
    [{ mode: ['aggressive'] }, ran('make', { mode: 'aggressive' }), true],
    [{ mode: ['strict'] }, ran('make', { mode: 'strict' }), false],
  ];
  for (const [when, context, isMeant] of cases) {
    const { by, isTried } = rewrite([rule('own', { class: ['log'], ...when })]).apply(
      REPORT,
      context,
    );
    const what = JSON.stringify([when, context.hints]);
    assert.equal(by, isMeant ? ['own'] : [], what);
    assert.is(isTried, isMeant, what);
  }
  assert.equal(rewrite([rule('own', { class: ['trace'] })]).apply(REPORT, ran('make')).by, []);
});

test('runs rules step by step, and those of the same step in the order of the list', () => {
  const order: string[] = [];
  const noting = (name: string, step: Rule['step']): Rule =>
    rule(name, { class: ['log'] }, { step, apply: () => void order.push(name) });
  const rules = [noting('d', 'encode'), noting('b', 'drop'), noting('a', 'clean')];
  rewrite([...rules, noting('c', 'drop')]).apply(REPORT, ran('make'));
  assert.equal(order, ['a', 'b', 'c', 'd']);
  assert.throws(() => rewrite([...BUILT_IN_RULES, rule('grep', { class: ['log'] })]), /named grep/);
});

test('keeps the lines that say how a command ended, whatever a rule drops', () => {
  const careless = rule('careless', { class: ['log'] }, { apply: without(/passed|PASSED/) });
  assert.equal(rewrite([careless]).apply(REPORT, ran('pytest')).by, []);
  const { by } = rewrite([{ ...careless, endings: 'own' }]).apply(REPORT, ran('pytest'));
  assert.equal(by, ['careless'], 'only the check kept the text');
});

test('requires no final lines of a search that prints names', () => {
  const names = times(40, (at) => `packages/core/src/part-${at % 7}/file-${at}.ts`);
  for (const command of [
    'find packages -name "*.ts" | grep -E "src" | sort',
    'grep -rl foo packages | head -40',
    'git grep -l foo',
  ])
    assert.equal(builtIn.apply(names.join('\n'), ran(command)).by, ['listing'], command);
  const copied = builtIn.apply(names.join('\n'), ran('make install'));
  assert.equal(copied.by, [], "the end of other programs' output may matter");
});

test('ignores the result of a rule that throws, grows the text or empties it', () => {
  const applied = (apply: Apply): Applied =>
    rewrite([rule('own', { class: ['log'] }, { apply, endings: 'own' })]).apply(
      REPORT,
      ran('make'),
    );
  const thrown = applied(() => {
    throw new Error('no');
  });
  assert.equal([thrown.text, thrown.failed], [REPORT, ['own']]);
  for (const text of [`${REPORT}\n${REPORT}`, '', '\n'])
    assert.is(applied(() => ({ text, removed: [] })).text, REPORT);
});

test('reports a rule by name in a conversation, counts lines of the block, and skips protected blocks', () => {
  const own = rule('own', { class: ['log'], program: ['pytest'] });
  const options = { ...CONVERSATION, rewriter: rewrite([own, ...BUILT_IN_RULES], 'own') };
  const block = {
    role: 'user',
    kind: 'tool_result',
    text: REPORT,
    toolName: 'Bash',
    toolInput: { command: 'pytest' },
  } as const;
  const blocks = [
    { ...block, index: 0, protectedReason: 'pinned' },
    { ...block, index: 1, text: REPORT.replaceAll('test_case', 'test_other') },
    { ...block, index: 2, text: SOURCE, toolInput: { command: 'cat a.ts' } },
  ];
  for (const cache of [undefined, createBlockCache(9), createBlockCache(9)]) {
    const [kept, made, code] = compressConversation(blocks, options, cache);
    assert.equal([kept!.text, kept!.reason, kept!.isTried], [REPORT, 'pinned', false]);
    assert.equal(made!.by, ['own']);
    assert.match(made!.text, '[svc omitted 60 of 66 lines here (lines 4–63)');
    assert.equal(made!.removed, [{ from: 3, to: 63 }]);
    assert.equal([code!.changed, code!.isTried], [false, false]);
  }
});

test('does not reuse the results of one set of rules for another', () => {
  const [drops, keeps] = [/PASSED/, /rootdir/].map((unwanted, at) => ({
    ...CONVERSATION,
    rewriter: rewrite(
      [rule('own', { class: ['log'] }, { apply: without(unwanted), endings: 'own' })],
      `rules ${at}`,
    ),
  }));
  const blocks = [
    {
      index: 0,
      role: 'user',
      kind: 'tool_result',
      text: REPORT,
      toolName: 'Bash',
      toolInput: { command: 'pytest' },
    },
  ] as const;
  const cache = createBlockCache(9);
  assert.ok(compressConversation(blocks, drops!, cache)[0]!.changed);
  assert.not(compressConversation(blocks, keeps!, cache)[0]!.changed);
});

test('never makes a text larger or empty, is idempotent, and drops blobs only in aggressive mode', () => {
  const blob = 'QUJDREVG'.repeat(600);
  const texts = [
    STORY,
    '/**\n * Says things.\n */\nexport const a = `// not a comment\n/* nor this */`;\n// gone\n// gone too\nexport const b = /\\/\\*/.test(a);\n// eslint-disable-next-line\nf();\n',
    blob,
    '{"a": [1, 2,   3]}',
    '\u001b[1ma\u001b[0m\nb\n'.repeat(200),
    '',
    ' \n ',
  ];
  for (const mode of ['strict', 'hybrid', 'aggressive'] as const) {
    for (const text of texts) {
      const options = { ...PLAIN, query: 'lighthouse', mode, hints: {} };
      const out = builtIn.apply(text, options).text;
      assert.ok(estimateTokens(out) <= estimateTokens(text));
      assert.is(out.trim() === '', text.trim() === '');
      assert.is(builtIn.apply(out, options).text, out);
      if (mode === 'strict' || (mode === 'hybrid' && text === blob)) assert.is(out, text);
    }
  }
  assert.match(
    builtIn.apply(blob, { ...PLAIN, mode: 'aggressive', hints: {} }).text,
    'omitted 4800 characters of base64',
  );
});

test('counts omitted lines of code from the start of the block', () => {
  const comments = times(9, (n) => `// the ${n}th line of what all of this is for`);
  const text = ['<output>', ...comments, 'export const a = 1;', '</output>'].join('\n');
  const commentLines = () => [{ from: 0, to: 9 }];
  const context = { ...PLAIN, mode: 'aggressive', hints: { path: 'a.ts' }, commentLines } as const;
  const out = builtIn.apply(text, context);
  assert.equal(out.by, ['code']);
  assert.equal(out.removed, [{ from: 1, to: 10 }]);
});

test('applies an optional rule only if it removes more than a tenth of the text', () => {
  const out = (unwanted: RegExp): Applied => {
    const drop = rule('drop', { class: ['log'] }, { isOptional: true, apply: without(unwanted) });
    return rewrite([drop]).apply(REPORT, ran('pytest'));
  };
  assert.is(out(/case_(?:7|17|27) PASSED/).text, REPORT);
  assert.equal(out(/PASSED/).by, ['drop']);
});

test.run();
