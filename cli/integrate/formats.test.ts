/** Edits of settings files: the value arrives, everything else stays to the letter, and it can be taken back. */
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
  /** What is left once it is taken out again, where that is not `before`. */
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
  'a comment behind the last value': {
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
    // A value that is there is replaced where it stands.
    assert.is(
      format.put(text, path, format.encode('y')),
      after.replace(/"x"|=x/, (x) => x.replace('x', 'y')),
    );
  });
}

test('the later of two equal keys counts, and it alone is replaced', () => {
  const { json } = formats;
  assert.is(json.put('{"a": 1, "a": 2}', ['a'], '"x"'), '{"a": 1, "a": "x"}');
});

test('what is not of the format is refused with its line; what is in the way, too', () => {
  const refusals: readonly (readonly [FormatName, KeyPath, string, RegExp])[] = [
    ['json', ['a'], '{\n"b": }', /not JSON: .* line 2/],
    ['json', ['a'], '{"b": 1} x', /not JSON/],
    ['json', ['a'], '/* {', /not JSON/],
    ['json', ['a'], '['.repeat(100_000), /too many levels/],
    ['json', ['a', 'b'], '{"a": "text"}', /a is there already/],
    ['json', ['a'], '{"a": {}}', /a is there already/],
    ['toml', ['a'], 'b = 1\nc d\n', /not TOML in line 2/],
    ['toml', ['a', 'b'], 'a = { c = 1 }\n', /a is there already/],
    ['toml', ['a', 'b', 'c'], '[a]\nb.d = 1\n', /a\.b is there already/],
    ['toml', ['a', 'b'], '[[a]]\nc = 1\n', /a is there already/],
    ['yaml', ['a'], 'b: [1\n', /not YAML/],
    ['yaml', ['a', 'b'], 'a: text\n', /a is there already/],
  ];
  for (const [name, path, text, message] of refusals)
    assert.throws(
      () => formats[name].put(text, path, '"x"'),
      (error: Error) => message.test(error.message),
    );
});

test.run();
