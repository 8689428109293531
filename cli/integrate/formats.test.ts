/**
 * Edits of settings files: the value is set, everything else stays unchanged, and the edit can be
 * undone.
 */
import { parse as parseToml } from 'smol-toml';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse as parseYaml } from 'yaml';
import { formats } from './formats.ts';
import type { FormatName } from './client.ts';
import type { KeyPath } from './text-format.ts';

interface Case {
  readonly format: FormatName;
  readonly path: KeyPath;
  readonly before: string;
  readonly after: string;
  /** The text after the value is removed again, if it differs from `before`. */
  readonly without?: string;
}

const CASES: Readonly<Record<string, Case>> = {
  'empty file': {
    format: 'json',
    path: ['env', 'URL'],
    before: '',
    after: '{\n  "env": {\n    "URL": "x"\n  }\n}\n',
    without: '{\n}\n',
  },
  'four spaces, into an object that is there': {
    format: 'json',
    path: ['env', 'URL'],
    before: '{\n    "env": {\n        "A": "1"\n    },\n    "b": [1, 2]\n}\n',
    after: '{\n    "env": {\n        "A": "1",\n        "URL": "x"\n    },\n    "b": [1, 2]\n}\n',
  },
  'comments and trailing commas': {
    format: 'json',
    path: ['env', 'URL'],
    before: '// mine\n{\n\t"a": 1, // one\n\t/* two */ "b": {"c": "}"}, // last\n}\n',
    after:
      '// mine\n{\n\t"a": 1, // one\n\t/* two */ "b": {"c": "}"}, // last\n\t"env": {\n\t\t"URL": "x"\n\t},\n}\n',
  },
  'a comment after the last value': {
    format: 'json',
    path: ['URL'],
    before: '{\n  "a": "http://b" // c\n}\n',
    after: '{\n  "a": "http://b", // c\n  "URL": "x"\n}\n',
  },
  'one line': {
    format: 'json',
    path: ['env', 'URL'],
    before: '{ "a": [{}] }',
    after: '{ "a": [{}], "env": { "URL": "x" } }',
  },
  'Windows lines': {
    format: 'json',
    path: ['URL'],
    before: '{\r\n  "a": 1\r\n}\r\n',
    after: '{\r\n  "a": 1,\r\n  "URL": "x"\r\n}\r\n',
  },
  'a byte order mark': {
    format: 'json',
    path: ['URL'],
    before: '\uFEFF{\n  "a": 1\n}',
    after: '\uFEFF{\n  "a": 1,\n  "URL": "x"\n}',
  },
  'TOML, empty': { format: 'toml', path: ['t', 'URL'], before: '', after: '[t]\nURL = "x"\n' },
  'TOML, the top before tables': {
    format: 'toml',
    path: ['URL'],
    before: '# mine\na = """\n[no]\n""" # b\n\n[t]\nURL = "other"\n',
    after: '# mine\na = """\n[no]\n""" # b\nURL = "x"\n\n[t]\nURL = "other"\n',
  },
  'TOML, no pair at the top': {
    format: 'toml',
    path: ['URL'],
    before: '[t]\na = 1\n',
    after: 'URL = "x"\n\n[t]\na = 1\n',
    without: '\n[t]\na = 1\n',
  },
  'TOML, into a table': {
    format: 'toml',
    path: ['t', 'u', 'URL'],
    before: '[t."u"]\na = [ # c ]\n  "]",\n]\n# d\n\n[[l]]\nURL = 1\n',
    after: '[t."u"]\na = [ # c ]\n  "]",\n]\nURL = "x"\n# d\n\n[[l]]\nURL = 1\n',
  },
  'TOML, a new table without a newline at the end': {
    format: 'toml',
    path: ['t', 'u', 'URL'],
    before: '[t.v]\na = 1',
    after: '[t.v]\na = 1\n\n[t.u]\nURL = "x"\n',
    without: '[t.v]\na = 1\n',
  },
  'YAML, a list of models': {
    format: 'yaml',
    path: ['models', 1, 'URL'],
    before:
      'models: # all\n  - name: a\n  - name: b # mine\n    roles:\n      - chat\n\nrules: []\n',
    after:
      'models: # all\n  - name: a\n  - name: b # mine\n    URL: "x"\n    roles:\n      - chat\n\nrules: []\n',
  },
  'YAML, the top': {
    format: 'yaml',
    path: ['URL'],
    before: '# none\n',
    after: '# none\nURL: "x"\n',
  },
  'YAML, quotes and blocks': {
    format: 'yaml',
    path: ['URL'],
    before: "a: 'b: c'\nd: |\n  e: f\n",
    after: 'a: \'b: c\'\nURL: "x"\nd: |\n  e: f\n',
  },
  'YAML, a section that is missing': {
    format: 'yaml',
    path: ['env', 'URL'],
    before: 'a: 1 # one\n',
    after: 'a: 1 # one\nenv:\n  URL: "x"\n',
  },
  'YAML, a section of comments alone': {
    format: 'yaml',
    path: ['env', 'URL'],
    before: 'env: # mine\n  # none\n  #URL: 1\nb: 2\n',
    after: 'env: # mine\n  URL: "x"\n  # none\n  #URL: 1\nb: 2\n',
  },
  'YAML, an empty section between Windows lines': {
    format: 'yaml',
    path: ['env', 'URL'],
    before: 'b: 2\r\nenv:\r\n',
    after: 'b: 2\r\nenv:\r\n  URL: "x"\r\n',
  },
  variables: {
    format: 'dotenv',
    path: ['URL'],
    before: 'A=1',
    after: 'A=1\nURL=x\n',
    without: 'A=1\n',
  },
};

const READERS: Readonly<Partial<Record<FormatName, (text: string) => unknown>>> = {
  toml: parseToml,
  yaml: parseYaml,
};

for (const [name, { format: formatName, path, before, after, without }] of Object.entries(CASES)) {
  test(`${formatName}: ${name}`, () => {
    const format = formats[formatName];
    assert.is(format.find(before, path), undefined);
    const text = format.put(before, path, format.encode('x'));
    assert.is(text, after);
    assert.is(format.find(text, path)?.value, 'x');
    READERS[formatName]?.(text);
    let taken = format.remove(text, path);
    const outer = path.slice(0, -1);
    if (!format.has(before, outer) && format.isEmpty(taken, outer))
      taken = format.remove(taken, outer);
    assert.is(taken, without ?? before);
    // An existing value is replaced in place.
    assert.is(
      format.put(text, path, format.encode('y')),
      after.replace(/"x"|=x/, (x) => x.replace('x', 'y')),
    );
  });
}

/**
 * Files in which a value is inserted into braces, between comments, or after the dash of a list.
 */
const BRACES: Readonly<Partial<Record<FormatName, readonly string[]>>> = {
  yaml: [
    '{ model: x } # mine\n',
    '{} # mine\n',
    '{model: x}\n',
    '{ # mine\n  model: x\n}\n',
    '{ # mine\n}\n',
    '{ model: x, # mine\n  other: y, }\n',
    '{\n  model: x, # a, b\n  other: "}" # c\n}\n# end\n',
    '# top\n{ a: { b: 1 }, # mine\n}\n',
    'top: { # mine\n  a: 1 }\n',
    'a: 1 # mine\n# end\n',
  ],
  json: [
    '{ "model": 1 } // mine\n',
    '{ /* mine */ }\n',
    '{ // mine\n}\n',
    '{ "a": 1, /* mine, too */ "b": 2 /* } */ }',
    '{\n  "a": 1 // mine\n  , "b": 2\n}\n',
    '{\n  "a": 1, // mine\n}\n',
    '// top\n{ "a": { /* b */ } }\n',
  ],
  toml: [
    't = { a = 1 } # mine\n',
    'a = 1 # mine\n\n[t] # mine\n# end\n',
    '# mine\n[t]\na = [ # one\n  1, # two\n]\n',
  ],
};

for (const [name, texts] of Object.entries(BRACES)) {
  test(`${name}: removing a value that was written next to comments keeps the comments`, () => {
    const format = formats[name as FormatName];
    for (const before of texts) {
      const after = format.put(before, ['url'], format.encode('x'));
      READERS[name as FormatName]?.(after);
      assert.is(format.find(after, ['url'])?.value, 'x', before);
      // A line was added since, so that the file cannot be restored as a whole.
      const changed = name === 'json' ? `${after}// since\n` : `${after}# since\n`;
      const taken = format.remove(changed, ['url']);
      assert.is(format.find(taken, ['url']), undefined, before);
      READERS[name as FormatName]?.(taken);
      const squeezed = (text: string) => text.replaceAll(/[\s,]/g, '');
      assert.is(
        squeezed(taken),
        squeezed(`${before}${name === 'json' ? '//' : '#'} since`),
        before,
      );
    }
  });
}

test('yaml: the last pair, the only pair and a pair after a dash are removed', () => {
  const { yaml } = formats;
  const cases: readonly (readonly [before: string, path: KeyPath, after: string])[] = [
    ['{ a: 1, url: x } # c\n', ['url'], '{ a: 1 } # c\n'],
    ['{ url: x } # c\n', ['url'], '{} # c\n'],
    ['{ a: 1, # c\n  url: x # d\n}\n', ['url'], '{ a: 1 # c\n # d\n}\n'],
    ['{\n  a: 1, # c, d\n  url: x\n}\n', ['url'], '{\n  a: 1 # c, d\n}\n'],
    ['{ url: x # c\n  , a: 1 }\n', ['url'], '{  # c\n   a: 1 }\n'],
    ['m:\n  - url: x\n    a: 1\n', ['m', 0, 'url'], 'm:\n  - a: 1\n'],
    ['m: { o: { url: x } }\n', ['m', 'o', 'url'], 'm: { o: {} }\n'],
  ];
  for (const [before, path, after] of cases) {
    parseYaml(after);
    assert.is(yaml.remove(before, path), after);
    assert.is(yaml.isEmpty(after, path.slice(0, -1)), after.includes('{}'), after);
  }
});

test('with duplicate keys the later one counts, and only that one is replaced', () => {
  const { json } = formats;
  assert.is(json.put('{"a": 1, "a": 2}', ['a'], '"x"'), '{"a": 1, "a": "x"}');
});

test('invalid syntax is refused with its line, and so is a value of another type', () => {
  const refusals: readonly (readonly [FormatName, KeyPath, string, RegExp])[] = [
    ['json', ['a'], '{\n"b": }', /not JSON: .* line 2/],
    ['json', ['a'], '{"b": 1} x', /not JSON/],
    ['json', ['a'], '/* {', /not JSON/],
    ['json', ['a'], '['.repeat(100_000), /too many levels/],
    ['json', ['a', 'b'], '{"a": "text"}', /a already exists/],
    ['json', ['a'], '{"a": {}}', /a already exists/],
    ['toml', ['a'], 'b = 1\nc d\n', /not TOML in line 2/],
    ['toml', ['a', 'b'], 'a = { c = 1 }\n', /a already exists/],
    ['toml', ['a', 'b', 'c'], '[a]\nb.d = 1\n', /a\.b already exists/],
    ['toml', ['a', 'b'], '[[a]]\nc = 1\n', /a already exists/],
    ['yaml', ['a'], 'b: [1\n', /not YAML/],
    ['yaml', ['a', 'b'], 'a: text\n', /a already exists/],
  ];
  for (const [name, path, text, message] of refusals)
    assert.throws(
      () => formats[name].put(text, path, '"x"'),
      (error: Error) => message.test(error.message),
    );
});

test.run();
