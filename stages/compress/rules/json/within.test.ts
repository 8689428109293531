import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { jsonWithin } from './within.ts';
import { readJson, printCompact } from './lexer.ts';
import { estimateTokens } from '../../../model/tokens.ts';
import { result } from '../../../../fixtures/compress/texts.ts';
import { decodeJsonWithin } from '../../decode/decoders.ts';

const ROWS = Array.from({ length: 60 }, (_, id) => ({
  id,
  name: `item ${id}`,
  state: 'open',
  url: `http://localhost/items/${id}`,
}));
const PRETTY = JSON.stringify(ROWS, null, 2);
const LINES = ROWS.map((row) => JSON.stringify(row)).join('\n');

const AROUND: Readonly<Record<string, (json: string) => string>> = {
  'a line after': (json) => `${json}\nShell cwd was reset to /w`,
  'a line before': (json) => `> app@1.0.0 list\n${json}`,
  'lines before and after': (json) => `$ curl -s localhost\n\n${json}\n\n[done in 3 s]\n`,
  'a stamp in brackets': (json) => `[12:00:01] request sent\n${json}\n`,
};

for (const [what, around] of Object.entries(AROUND))
  for (const [form, json] of [
    ['pretty', PRETTY],
    ['one a line', LINES],
  ] as const)
    test(`compresses JSON between other lines and keeps those: ${what}, ${form}`, () => {
      const text = around(json);
      const alone = result(json, 'Bash', { command: './list' }, 'hybrid');
      const out = result(text, 'Bash', { command: './list' }, 'hybrid');
      assert.equal(out.by, ['json']);
      const added = estimateTokens(text) - estimateTokens(json);
      assert.ok(out.tokensAfter <= alone.tokensAfter + added + 8, `${out.tokensAfter}`);
      const [head, tail] = text.split(json);
      assert.ok(out.text.startsWith(head!));
      assert.ok(out.text.endsWith(tail!));
      const compact = form === 'pretty' ? printCompact(readJson(json)!) : json;
      assert.is(decodeJsonWithin(out.text), head! + compact + tail!);
    });

test('does not treat text as JSON that only begins or ends like it', () => {
  for (const text of [
    PRETTY,
    `[INFO] start\n${'[INFO] step of the build\n'.repeat(40)}[INFO] end }`,
    `a\n${PRETTY.slice(0, -9)}\nb`,
    `${'words of a report\n'.repeat(400)}${PRETTY}`,
    `config {\n${'  key value\n'.repeat(20)}}\n`,
  ])
    assert.is(jsonWithin(text), undefined, text.slice(0, 30));
});

test('keeps the form of a file in hybrid mode; encodes a single-line file in aggressive mode', () => {
  const read = (json: string, mode: 'hybrid' | 'aggressive') =>
    result(`${json}\nShell cwd was reset to /w`, 'Bash', { command: 'cat rows.json' }, mode).by;
  const single = JSON.stringify(ROWS);
  assert.not.ok(read(PRETTY, 'hybrid').includes('json'));
  assert.not.ok(read(single, 'hybrid').includes('json'));
  assert.not.ok(
    read(PRETTY, 'aggressive').includes('json'),
    'its lines can be named when read again',
  );
  assert.ok(read(single, 'aggressive').includes('json'));
});

test.run();
