import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { patternFault, toPattern } from './pattern.ts';

test('refuses patterns that may take long, and suggests what to write instead', () => {
  for (const source of ['(a+)+$', '(a|a)*b', '(x+x+)+y', '^(\\w+\\s?)*$', '(?:a?){40}', '^(a*)*$'])
    assert.match(patternFault(source) ?? '', /can take very long/, source);
  for (const source of ['.*a.*b.*c', '\\s+\\w*\\w*\\w*!'])
    assert.match(patternFault(source) ?? '', /bound its repetitions/, source);
  assert.match(patternFault('(a)\\1') ?? '', /refers back/);
  assert.match(patternFault('(?<=a)b') ?? '', /looks behind/);
  assert.match(patternFault('(') ?? '', /is not a regular expression/);
  assert.match(patternFault('a'.repeat(1001)) ?? '', /longer than/);
});

test('allows the patterns that people usually write for output lines', () => {
  for (const source of [
    '^error(\\[E\\d+\\])?: ',
    '^\\s+at .+\\(.+:\\d+:\\d+\\)$',
    '(?i)\\bwarning\\b',
    '^\\d+ (passed|failed), \\d+ skipped',
    'error.{0,80}line \\d+',
    '^(?:\\d{3},)+x',
    '[^\\]]+]',
    'a|b|^c$',
  ])
    assert.is(patternFault(source), undefined, source);
});

test('ignores colour codes and a carriage return, and ignores case after (?i)', () => {
  const pattern = toPattern('(?i)^ERROR: x$');
  assert.ok(pattern.test('\u001b[31merror\u001b[0m: x\r'));
  assert.not.ok(pattern.test('no error: x'));
  assert.throws(() => toPattern('(a+)+'), RangeError);
});

test.run();
