import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { guessTool, toolNamed } from './assumed-tool.ts';

test('the tool is guessed from the name and the lines of a file', () => {
  const words = (text: string, name: string) => guessTool(text, name).words;
  assert.is(words('all well\n', 'build.log'), 'Bash:cat build.log');
  assert.is(words('2026-01-01 10:00:00 up\n2026-01-01 10:00:01 down\n', 'x'), 'Bash:cat x');
  assert.is(words('diff --git a/x b/x\n--- a/x\n+++ b/x\n', 'x.txt'), 'Bash:git diff');
  assert.is(words('src/a.ts:1:one\nsrc/a.ts:2:two\nsrc/b.ts:9:x\n', 'hits.txt'), 'Grep:.');
  assert.is(words('./src/a.ts\n./src/b.ts\n./src/c d.ts\n', 'files.txt'), 'Glob:**/*');
  assert.is(words('{"a": 1}\n', 'rows.json'), 'Read:rows.json');
  assert.is(words('const a = 1;\n', 'a.ts'), 'Read:a.ts');
});

test('a tool may be named with its command', () => {
  assert.equal(toolNamed('Bash: npm test -- a:b').input, { command: 'npm test -- a:b' });
  assert.equal(toolNamed('Read:a.ts').input, { file_path: 'a.ts' });
  assert.is(toolNamed('shell').name, 'shell');
});

test.run();
