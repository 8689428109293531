import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compareConfig } from './config-readers.ts';

test('a configuration means the same without its comments', () => {
  const cases = [
    ['toml', '# remark\na = 1\n[b] # here\n"c#d" = "#"\n', 'a = 1\n[b]\n"c#d" = "#"\n'],
    ['yaml', 'a:\n  # remark\n  - 1\n  - "#"\n', 'a:\n  - 1\n  - "#"\n'],
    ['ini', '[a]\n; remark\nb = c\n  d\n\n[e]\nf: g\n', '[a]\nb = c\n  d\n[e]\nf: g\n'],
  ] as const;
  for (const [format, before, after] of cases) {
    const { formats, faults } = compareConfig(before, after);
    assert.ok(formats.includes(format), format);
    assert.equal(faults, [], format);
  }
});

test('a value that is lost, changed or taken for a comment is reported, in every format', () => {
  const cases = [
    ['toml', 'a = 1\nb = "x"\n', 'a = 1\n'],
    ['toml', 'a = """\n# text\n"""\n', 'a = """\n"""\n'],
    ['toml', '[a]\nb = 12345678901234567890123\n', '[a]\nb = 1\n'],
    ['toml', 'a = 9007199254740993\n', 'a = 9007199254740992\n'],
    ['toml', 'a = 1\n', 'a = 1\nb'],
    ['yaml', 'a: |\n  # text\n  b\n', 'a: |\n  b\n'],
    ['yaml', 'a: 1\nb: 2\n', 'a: 1\n'],
    ['ini', '[a]\nb = c\n  d\n', '[a]\nb = c\n'],
    ['ini', '[a]\nb = c # d\n', '[a]\nb = c\n'],
    ['ini', '[a]\nb = 1\n[c]\nb = 1\n', '[a]\nb = 1\nb = 1\n'],
  ] as const;
  for (const [format, before, after] of cases) {
    const { formats, faults } = compareConfig(before, after);
    assert.ok(formats.includes(format), before);
    assert.ok(faults.includes(`read as ${format} it says otherwise`), before);
  }
});

test('in an unknown format, the lines that are not comments are compared', () => {
  assert.equal(compareConfig('Some prose, over\ntwo lines.', '').formats, []);
  assert.equal(compareConfig('FROM a\nRUN b\n', '').formats, []);
  assert.equal(compareConfig('FROM a\n# x\nRUN b\n', 'FROM a\nRUN b\n').faults, []);
  assert.is(compareConfig('FROM a\n# x\nRUN b\n', 'FROM a\n').faults.length, 1);
});

test.run();
