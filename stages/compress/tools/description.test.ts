import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as fc from 'fast-check';
import { tidyDescription } from './description.ts';

test('removes the indentation of a docstring, and repeated blank lines', () => {
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
    tidyDescription(text),
    'Reads a file. Paths are absolute.\n\nArgs:\n    path: the file\n\n    limit: most lines',
  );
});

test('keeps the indentation of a list below a heading', () => {
  const text = 'Args:\n    path: the file\n    limit: most lines';
  assert.is(tidyDescription(text), text);
});

test('keeps the spaces of examples in fences, quotes and tables', () => {
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
  assert.is(tidyDescription(lines.join('\r\n')), lines.join('\n'));
});

const anyText = fc
  .array(fc.constantFrom('a', 'B.', '  ', ' ', '\n', '\r\n', '```', '\t', '"', '  - ', 'end'))
  .map((parts) => parts.join(''));

test('removes no word, and is idempotent', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const short = tidyDescription(text);
      assert.is(short.replaceAll(/\s/g, ''), text.replaceAll(/\s/g, ''));
      assert.ok(short.length <= text.length);
      assert.is(tidyDescription(short), short);
    }),
    { numRuns: 3000 },
  );
});

test.run();
