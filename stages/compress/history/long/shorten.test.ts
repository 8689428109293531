import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Classification } from '../../../model/classify/classes.ts';
import { createCodeTools, grammarFor } from '../../rules/code/code-tools.ts';
import type { Definitions } from '../../rules/code/definitions.ts';
import { estimateTokens } from '../../../model/tokens.ts';
import { times } from '../../../../fixtures/compress/texts.ts';
import { shortenLong } from './shorten.ts';

const block = {
  index: 0,
  role: 'user',
  kind: 'tool_result',
  text: '',
  toolName: 'Read',
  toolInput: { file_path: '/w/a' },
} as const;

const tools = createCodeTools();
const LANGUAGES = ['py', 'ts', 'js', 'go', 'rs', 'java', 'cs', 'cpp', 'rb', 'php', 'sh'];

test.before(async () => {
  for (const extension of LANGUAGES) await tools.load(grammarFor(extension)!);
});

function shorten(
  text: string,
  classification: Classification,
  { query = '', longTokens = 2000 } = {},
): string {
  const definitions: Definitions = tools.definitions;
  const words = 'Read with offset {from} and limit {count}';
  const long = { block, classification, query, words, longTokens, definitions };
  const made = shortenLong(text, long);
  assert.ok(made, 'shortened');
  const lines = text.split('\n');
  const own = made.text.split('\n').filter((line) => !line.startsWith('[svc '));
  const left = lines.filter((_, at) => !made.removed.some(({ from, to }) => at >= from && at < to));
  assert.equal(own, left, 'every line that was kept is unchanged');
  return made.text;
}

/** A function in each language; its body is long, and nothing refers to it. */
const FUNCTIONS: Readonly<Record<string, (name: string, body: string) => string>> = {
  py: (name, body) => `@cached\ndef ${name}(one, two=3):\n    ${body}\n    return one\n`,
  ts: (name, body) =>
    `export const ${name} = async (one: string): Promise<string> => {\n  ${body};\n  return one;\n};\n`,
  js: (name, body) => `function ${name}(one) {\n  ${body};\n}\n`,
  go: (name, body) => `func (s *Server) ${name}(one string) error {\n\t${body}\n\treturn nil\n}\n`,
  rs: (name, body) => `pub fn ${name}(one: &str) -> usize {\n    ${body};\n    1\n}\n`,
  java: (name, body) =>
    `class ${name} {\n  int run(String one) {\n    ${body};\n    return 1;\n  }\n}\n`,
  cs: (name, body) =>
    `class ${name} {\n  int Run(string one)\n  {\n    ${body};\n    return 1;\n  }\n}\n`,
  cpp: (name, body) => `int ${name}(const char* one) {\n  ${body};\n  return 1;\n}\n`,
  rb: (name, body) => `def ${name.toLowerCase()}(one)\n  ${body}\n  one\nend\n`,
  php: (name, body) => `function ${name}($one) {\n  ${body};\n  return 1;\n}\n`,
  sh: (name, body) => `${name}() {\n  ${body}\n}\n`,
};

test('keeps the signatures of code in every language that has a parser', () => {
  for (const [extension, make] of Object.entries(FUNCTIONS)) {
    const names = times(30, (n) => `Handler${String.fromCodePoint(97 + (n % 26))}${n}`);
    const calls = (n: number) =>
      times(6, (m) => `call${n}_${m}(${n * 31 + m})`).join(
        extension === 'rb' || extension === 'sh' || extension === 'py' || extension === 'go'
          ? `\n${extension === 'py' ? '    ' : '  '}`
          : ';\n  ',
      );
    const start = extension === 'php' ? '<?php\n' : '';
    const text = start + names.map((name, n) => make(name, calls(n))).join('\n');
    const out = shorten(text, { kind: 'code', extension, file: true }, { longTokens: 5000 });
    for (const name of names) {
      const line = text.split('\n').find((one) => one.toLowerCase().includes(name.toLowerCase()))!;
      assert.ok(out.includes(line), `${extension}: ${line}`);
    }
    assert.ok(out.length < text.length * 0.7, `${extension}: ${out.length} of ${text.length}`);
  }
});

test('keeps the headings of prose and the outermost keys of configuration', () => {
  const chapter = (n: number) =>
    `## Chapter ${n} on ports\n\n${times(12, (m) => `Harbour ${n * 100 + m} lies by a river and has a market of its own, built by ${m} masons.`).join('\n')}\n`;
  const prose = `# Ports\n\n${times(25, chapter).join('\n')}`;
  const out = shorten(
    prose,
    { kind: 'narrative', extension: 'md', file: true },
    { longTokens: 4000 },
  );
  for (let n = 0; n < 25; n++) assert.ok(out.includes(`## Chapter ${n} on ports`), `${n}`);
  const service = (n: number) =>
    `service${n}:\n${times(10, (m) => `  option_${m}: value ${n * m}`).join('\n')}`;
  const yaml = times(60, service).join('\n');
  const config = shorten(
    yaml,
    { kind: 'config', extension: 'yaml', file: true },
    { longTokens: 6000 },
  );
  for (let n = 0; n < 60; n++) assert.ok(config.includes(`service${n}:`), `${n}`);
});

test('keeps definitions and lines that the question names', () => {
  const text = times(80, (n) =>
    FUNCTIONS['py']!(`handle_${n}`, times(6, (m) => `run_${n}_${m}()`).join('\n    ')),
  ).join('\n');
  const code = { kind: 'code', extension: 'py', file: true } as const;
  const query = 'Why does `handle_41` fail with "run_62_3"? See a.py:500.';
  const out = shorten(text, code, { query, longTokens: 3000 });
  for (let m = 0; m < 6; m++) assert.ok(out.includes(`run_41_${m}()`), `body ${m}`);
  assert.ok(out.includes('run_62_3()'));
  assert.ok(out.includes(text.split('\n')[499]!));
  assert.not.ok(out.includes('run_33_3()'));
});

test('limits the kept parts to a third of the limit, whatever the text', () => {
  for (const text of [
    times(3000, (n) => `alpha${n} beta${n * 7} gamma${n * 31}`).join('\n'),
    times(3000, (n) => `## Heading ${n}`).join('\n'),
    times(900, (n) => `def f${n}(): pass`).join('\n'),
  ])
    for (const kind of ['other', 'narrative', 'code', 'json'] as const) {
      const out = shorten(
        text,
        { kind, extension: 'py' },
        { query: 'alpha7 f12 Heading', longTokens: 3000 },
      );
      assert.ok(estimateTokens(out) < 1300, `${kind}: ${estimateTokens(out)}`);
    }
});

test('leaves a text whole if its lines cannot be requested by number', () => {
  const classification = { kind: 'other' } as const;
  const of = (text: string) =>
    shortenLong(text, {
      block,
      classification,
      query: '',
      words: '{from}',
      longTokens: 500,
      definitions: undefined,
    });
  const lines = times(400, (n) => `alpha${n} went to beta${n * 7}`);
  assert.ok(of(lines.join('\n')));
  assert.is(of(lines.join(' ')), undefined, 'one line');
  const cut = [...lines.slice(0, 90), '... [310 lines truncated] ...', ...lines.slice(300)];
  assert.is(of(cut.join('\n')), undefined, 'text cut by another program');
  const view = (from: number, to: number) =>
    lines.slice(from, to).map((line, at) => `${String(from + at + 1).padStart(6)}→${line}`);
  assert.is(of([...view(0, 90), ...view(200, 400)].join('\n')), undefined, 'two views');
  assert.match(of(view(100, 400).join('\n'))!.text, /\(lines 1\d\d–/);
});

test('lists all declarations of a header file in its outline, and no comment openings', () => {
  const doc = (n: number): string =>
    `/**\n * @brief Does thing number ${n} with the buffer and gives back how many bytes it took.\n *\n * @param ctx The context that was made before with lib_create.\n */`;
  const header = (declare: (n: number) => string): string =>
    `/* The library.\n * All rights are somebody's. */\n#ifndef LIB_H\n#define LIB_H\n${times(60, (n) => `${doc(n)}\n${declare(n)}\n`).join('\n')}\n#endif`;
  for (const declare of [
    (n: number) =>
      `LIB_EXPORT int lib_thing_${n}(lib_context* ctx,\n                           int flags);`,
    (n: number) => `int lib_thing_${n}(void);`,
    (n: number) => `#define lib_thing_${n}(x) ((x) + ${n})`,
    (n: number) => `typedef struct lib_thing_${n} thing_${n};`,
  ]) {
    const out = shorten(header(declare), { kind: 'code', extension: 'h' }, { longTokens: 3000 });
    const left = Array.from({ length: 60 }, (_, n) => n).filter(
      (n) => !out.includes(`lib_thing_${n}`),
    );
    assert.equal(left, [], declare(1));
    const openers = out
      .split('\n')
      .filter((line, at, all) => /^\/\*\*?$/.test(line) && (all[at + 1] ?? '').startsWith('[svc'));
    assert.equal(openers, []);
  }
});

test('leaves licences, docstrings and decorators out of an outline', () => {
  const parts = times(
    60,
    (n) =>
      `"""A text about number ${n}.\n  It goes on, indented.\n"""\n@cached(\n  size=${n},\n)\n# A comment\nsection part${n}:\n  step one of part ${n} is done with care\n  step two of part ${n} is done with care as well`,
  );
  const out = shorten(parts.join('\n'), { kind: 'code', extension: 'xyz' }, { longTokens: 1200 });
  const shown = out.split('\n').slice(40, -15);
  assert.equal(
    shown.filter((line) => /^(?:"""|@|#)/.test(line)),
    [],
  );
  assert.ok(
    shown.some((line) => line.startsWith('section part')),
    out,
  );
});

test.run();
