import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createRandom, randomInt } from '../../../fixtures/random.ts';
import { cutAtMarks, MAX_CHARS, toLines, type Mark } from './chunk.ts';
import { createGrammars } from './grammar.ts';
import { layoutMarks, proseMarks } from './marks.ts';

test('puts every line that is not blank into exactly one piece, whatever the marks', () => {
  const random = createRandom(7);
  for (let round = 0; round < 200; round++) {
    const lines = Array.from({ length: randomInt(random, 1, 300) }, (_, index) =>
      random() < 0.2 ? '' : `${index} ${'w'.repeat(randomInt(random, 0, 120))}`,
    );
    const marks = Array.from({ length: randomInt(random, 0, 40) }, (): Mark => ({
      line: randomInt(random, 0, lines.length),
      depth: randomInt(random, 0, 4),
    }));
    const seen: number[] = [];
    for (const { startLine, endLine, content } of cutAtMarks(lines, marks)) {
      assert.is(content, lines.slice(startLine - 1, endLine).join('\n'));
      assert.ok(content.length <= MAX_CHARS);
      for (let line = startLine; line <= endLine; line++) seen.push(line);
    }
    const expected = lines.flatMap((line, index) => (line === '' ? [] : [index + 1]));
    const wordy = seen.filter((line) => lines[line - 1] !== '');
    assert.equal(wordy, expected);
  }
});

test('cuts a very long line between words, without losing any', () => {
  const line = Array.from({ length: 2_000 }, (_, index) => `word${index}`).join(' ');
  const pieces = cutAtMarks([line], []);
  assert.ok(pieces.length > 3);
  assert.is(pieces.map(({ content }) => content).join(''), line);
  const emoji = '😀'.repeat(3_000);
  for (const { content } of cutAtMarks([emoji], []))
    assert.not.match(content, /^[\udc00-\udfff]|[\ud800-\udbff]$/);
});

test('cuts prose at headings, but not at a comment inside fenced code', () => {
  const text = '# One\n\ntext\n\n```sh\n# not a heading\n```\n\nTwo\n===\n\n### Three\n';
  assert.equal(proseMarks(toLines(text)), [
    { line: 0, depth: 0 },
    { line: 8, depth: 0 },
    { line: 11, depth: 2 },
  ]);
});

const body = (indent: string): string =>
  Array.from({ length: 40 }, (_, index) => `${indent}value_${index} = compute(${index})`).join(
    '\n',
  );

test('cuts code at its definitions, together with their comments and decorators', async () => {
  const text = `import os\n\n# About alpha\n@cached\ndef alpha():\n${body('    ')}\n\ndef beta():\n${body('    ')}\n`;
  const marks = await createGrammars().marks('py', text);
  const pieces = cutAtMarks(toLines(text), marks ?? []);
  assert.equal(
    pieces.map(({ content }) => content.split('\n')[0]),
    ['import os', 'def beta():'],
  );
  const spread = text.replace('import os\n', `import os\n${'x = 1\n'.repeat(100)}`);
  const marked = await createGrammars().marks('py', spread);
  const starts = cutAtMarks(toLines(spread), marked ?? []).map(
    ({ content }) => content.split('\n')[0],
  );
  assert.ok(starts.includes('# About alpha'), starts.join('|'));
});

test('cuts a class that is too long at its methods', async () => {
  const method = (name: string): string => `  ${name}() {\n${body('    ')}\n  }\n`;
  const text = `export class Big {\n${method('first')}\n${method('second')}\n${method('third')}}\n`;
  const marks = await createGrammars().marks('ts', text);
  const pieces = cutAtMarks(toLines(text), marks ?? []);
  const starts = pieces.map(({ content }) => content.trim().split('\n')[0]);
  assert.equal(starts, ['export class Big {', 'second() {', 'third() {']);
});

test('cuts a language without a grammar by its layout', async () => {
  assert.is(await createGrammars().marks('kt', 'fun a() {}'), undefined);
  const text = `// About a\nfun a() {\n${body('  ')}\n}\n\nfun b() {\n${body('  ')}\n}\n`;
  const depthZero = layoutMarks(toLines(text)).filter(({ depth }) => depth === 0);
  assert.equal(
    depthZero.map(({ line }) => line),
    [0, 44],
  );
});

test.run();
