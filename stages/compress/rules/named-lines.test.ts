import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { times } from '../../../fixtures/compress/texts.ts';
import { isMentioned, namedLines } from './named-lines.ts';

const LINES = times(100, (n) => `ok ${n} checks the part part-${n} of the parser`);

test('finds a few lines by an identifier, a quotation or a rare word', () => {
  const lines = [...LINES, 'ok 100 rejects expired tokens', 'Fold: İstanbul'];
  const named = (query: string, call = ''): readonly number[] => namedLines(lines, { query, call });
  assert.equal(named('What about part-42?'), [42]);
  assert.equal(named('Does "rejects expired" pass?'), [100]);
  assert.equal(named('Are tokens that expired refused?'), [100]);
  assert.equal(named('Go on', 'npm test -- -t part-7'), [7]);
  assert.equal(named('Does the parser check each part?'), []);
  assert.equal(named(''), []);
});

test('ignores the text of a here-document, and words inside long lines of data', () => {
  assert.equal(namedLines(LINES, { query: '', call: "cat <<'EOF' > a\npart-42\nEOF" }), []);
  const data = `${'x'.repeat(2000)} part-42 `;
  assert.equal(namedLines([...LINES.slice(0, 10), data], { query: 'part-42' }), []);
});

test('names at most twelve lines', () => {
  const query = times(60, (n) => `part-${n}`).join(' ');
  assert.is(namedLines(LINES, { query }).length, 12);
});

test('matches the words of a call in any case', () => {
  assert.ok(isMentioned('package-lock.json', { query: '', call: 'git diff Package-Lock.json' }));
  assert.not(isMentioned('yarn.lock', { query: 'package-lock.json' }));
});

test.run();
