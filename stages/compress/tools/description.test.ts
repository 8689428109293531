import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as fc from 'fast-check';
import { tidied } from './description.ts';

test('a docstring loses the indentation of its body, and blank lines beyond one', () => {
  const text = [
    'Reads a file.  Paths are absolute.',
    '',
    '        Args:',
    '            path: the file   ',
    '',
    '',
    '            limit: most lines',
    '        ',
  ].join('\n');
  assert.is(
    tidied(text),
    'Reads a file. Paths are absolute.\n\nArgs:\n    path: the file\n\n    limit: most lines',
  );
});

test('a list below a heading keeps its indentation', () => {
  const text = 'Args:\n    path: the file\n    limit: most lines';
  assert.is(tidied(text), text);
});

test('examples keep their spaces: between fences, between quotes, in tables', () => {
  const lines = [
    'Use:',
    '```yaml',
    'a:  1',
    '',
    '',
    'b.  c',
    '```',
    'Sends "a.  b" as it is.',
    '| a.  b |',
  ];
  assert.is(tidied(lines.join('\r\n')), lines.join('\n'));
});

const anyText = fc
  .array(fc.constantFrom('a', 'B.', '  ', ' ', '\n', '\r\n', '```', '\t', '"', '  - ', 'end'))
  .map((parts) => parts.join(''));

test('no word is lost, and doing it again changes nothing', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const short = tidied(text);
      assert.is(short.replaceAll(/\s/g, ''), text.replaceAll(/\s/g, ''));
      assert.ok(short.length <= text.length);
      assert.is(tidied(short), short);
    }),
    { numRuns: 3000 },
  );
});

test.run();
