/** Configuration keeps every value; a text that no strict parser accepts is left unchanged. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseAllDocuments } from 'yaml';
import type { CompressContext } from '../rule.ts';
import { stripConfig } from './strip-config.ts';
import { contextFor } from '../../../../fixtures/compress/texts.ts';

const NOTES = Array.from({ length: 12 }, (_, n) => `# remark ${n} on how this came to be`).join(
  '\n',
);

function stripped(text: string, extension?: string): string {
  const context: CompressContext = {
    ...contextFor('config'),
    mode: 'aggressive',
    classification: { kind: 'config', ...(extension === undefined ? {} : { extension }) },
  };
  return stripConfig(text, context)?.text ?? text;
}

/** Texts that lose their comments and nothing else: `[extension, before, after]`. */
const GO: readonly (readonly [string | undefined, string, string])[] = [
  ['yaml', 'a: 1\nb: |\n  # in it\n  x\n', ''],
  [undefined, 'a: &x {b: 1}\nc: *x\n"#k": "# y"\n', ''],
  ['yaml', 'a: |2-\n    # in it\n\n\n   x\n', 'b: >+\n  # folded\n\n\n\n  y\n\n\n'],
  ['yml', '---\na: 1\n---\nb: 2\n', '...\n'],
  ['yaml', 'name: !Sub "${A}"\r\nb: |\r\n  # in it\r\n  x\r\n', ''],
  ['toml', 'a = """ x \\"""\n# in it\n"""\n', "b = '''\n# in it\n\n\n'''\n"],
  ['toml', `q = "'''"\n`, `w = '"""'\nx = """\n# in it\n"""""\ny = 1\n`],
  [
    undefined,
    '[a]\n"k#1" = "v # no"\nlist = [\n  "#1",\n]\n',
    "[[b]]\nt = { c = '''\n#\n''' }\nd = 1979-05-27 07:32:00Z\n",
  ],
  ['ini', '[options]\ninstall =\n    foo\n    # in it\n\n\n    bar\n', '[x]\ncmd = a\n  ; b\n'],
  [
    undefined,
    '[Unit]\nDescription=A thing\n',
    '[Service]\nExecStart=/bin/a \\\n# between\n  --b\n',
  ],
  ['editorconfig', 'root = true\n', '[*.{js,ts}]\nindent_size = 2\n'],
  ['properties', 'list=a,\\\n#b,\\\n  c\n;key=value\n', "msg=don't\npath=C:\\\\\n"],
  ['env', 'KEY="-----BEGIN\n# in it\n\n\n\nEND"\nB=2\n', "C='x\n# too\n'\nexport D=`a\n\n\nb`\n"],
  [undefined, 'CC = gcc\nFLAGS = -a \\\n# goes on\n  -b\n', 'X := 1\n'],
  ['gitignore', '*.log\n\\#file\n !keep\n', '  #odd name\n'],
  [undefined, 'FROM a\nRUN a && \\\n  # between\n  b\n', 'ENV A="#1"\n'],
];

test('removes comments and keeps values unchanged', () => {
  for (const [extension, before, after] of GO) {
    for (const eol of ['\n', '\r\n']) {
      const [head, tail, notes] = [before, after, NOTES].map((part) =>
        part.replaceAll(/\r?\n/g, eol),
      );
      const out = stripped(`${head}${notes}${eol}${tail}`, extension);
      const [note, ...rest] = out.split('\n');
      assert.match(note!, 'comments and blank lines only');
      assert.is(rest.join('\n'), head! + tail!, `${extension}: ${before}`);
    }
  }
});

/** Texts that no parser may accept. */
const STAY: readonly (readonly [string | undefined, string])[] = [
  [
    'yaml',
    `kind: ConfigMap\n${NOTES}\ndata:\n{{- if .x }}\n  a.sh: |\n    #!/bin/bash\n    # step\n{{- end }}\n`,
  ],
  [
    undefined,
    `kind: ConfigMap\n${NOTES}\ndata:\n{{- if .x }}\n  a.conf: |\n    ; legacy = 1\n{{- end }}\n`,
  ],
  ['yml', `a: 1\n\tb: 2\n${NOTES}\nrun: |\n  # content\n  ; y\n`],
  ['yml', `  job:\n  ${NOTES.replaceAll('\n', '\n  ')}\n    <<: *defaults\n    image: a\n`],
  ['yml', `job:\n${NOTES}\n  <<: *defaults\n`],
  [
    'yml',
    `base: &b {a: 1, b: 2}\n${NOTES}\n${Array.from({ length: 120 }, (_, n) => `k${n}: *b`).join('\n')}`,
  ],
  ['yaml', `${'['.repeat(20_000)}\na: 1\n${NOTES}\n`],
  // Starts inside a block scalar.
  ['yaml', `    # step one\n    # step two\n    key: value\nnext: 1\n`],
  ['toml', `; legacy = 1\n${NOTES}\na = 1\n`],
  // Neither TOML, nor INI with its strings.
  [undefined, `${NOTES}\n[x]\n; b\nk = """\n# content\n"""\n# c\nv = 1\n`],
  ['toml', `${NOTES}\na = """\nnever closed\n`],
  ['env', `${NOTES}\nA="never closed\nB=2\n`],
  ['ini', `[a]\n${NOTES}\nb = "php\n; in it\n"\n`],
  [undefined, `${NOTES}\nserver {\n  listen 80; # c\n}\n`],
  [undefined, `${NOTES}\n<Directory />\n  Require all denied\n</Directory>\n`],
  [undefined, `${NOTES}\nFROM a\nRUN <<EOF\n# in it\necho\nEOF\n`],
  [undefined, `${NOTES}\n*/5 * * * * root run\n`],
  [undefined, `${NOTES}\nall: main.o\n\tcc -o a main.o\n`],
  [undefined, `${NOTES}\nresource "a" "b" {\n  c = <<EOT\n# in it\nEOT\n}\n`],
  [undefined, `${NOTES}\nuser_data = <<EOT\n# in it\nEOT\n`],
  [undefined, `${NOTES}\n{\n  // the only words on it\n  "a": "http://x" // more\n}\n`],
];

test('leaves a text unchanged that no parser accepts completely', () => {
  for (const [extension, text] of STAY) assert.is(stripped(text, extension), text);
});

test('keeps warnings and comments for tools', () => {
  const kept = [
    '# yaml-language-server: $schema=x.json',
    '# TODO: remove',
    '# NOTE why',
    '#!/usr/bin/env x',
    '# renovate: a=b',
    '# Warning: hot',
  ];
  const out = stripped(`${kept.join('\n')}\n${NOTES}\na: 1\n`, 'yaml');
  for (const line of kept) assert.match(out, line);
  assert.not.match(out, 'remark');
});

test('keeps the meaning of documents', () => {
  const text = `${NOTES}\na:\n  - |+\n    x\n\n\n  - >\n    y\n\n\n    z\n\n${NOTES}\nb: "c\n\n\n  # d"\n`;
  const read = (source: string): unknown =>
    parseAllDocuments(source).map((document) => document.toJS() as unknown);
  const out = stripped(text, 'yaml');
  assert.not.match(out, 'remark');
  assert.equal(read(out), read(text));
});

test('removes comments from configuration without changing the parsed values', () => {
  const yaml =
    '# top\n# more\na: 1 # kept\nscript: |\n  # content\n  run\n\n\n\n# gone\nb:\n  - x\n  # gone as well\n  - "# y"\n';
  const out = stripConfig(yaml, contextFor('config'))!.text;
  assert.match(out, '  # content');
  assert.not.match(out, '# gone');
  const read = (text: string): unknown =>
    parseAllDocuments(text).map((document) => document.toJS() as unknown);
  assert.equal(read(out), read(yaml));
  const toml = '# a\n[x]\n# b\nk = """\n# content\n"""\n# c\nv = 1\n';
  assert.is(
    stripConfig(toml, contextFor('config'))!.text.split('\n').slice(1).join('\n'),
    '[x]\nk = """\n# content\n"""\nv = 1\n',
  );
  assert.is(stripConfig('a: 1\nb: 2\n', contextFor('config')), undefined);
});

test('keeps comments that the question names or asks for, or that give reasons', () => {
  const text = Array.from(
    { length: 12 },
    (_, n) =>
      `  # The part ${n} of the shop.\n${n === 6 ? '  # disabled: leaks memory\n' : ''}${n === 8 ? '  # The firewall lets nothing else through.\n' : ''}  part${n}: ${n}\n`,
  ).join('');
  const out = (query: string): string =>
    stripConfig(`shop:\n${text}`, { ...contextFor('config'), mode: 'aggressive', query })?.text ??
    text;
  assert.match(out(''), '# disabled: leaks memory');
  assert.not.match(out(''), 'firewall');
  assert.match(
    out('Which port does the firewall allow?'),
    '# The firewall lets nothing else through.',
  );
  assert.is(out('Do its comments tell?'), text);
});

test('keeps comments that say what must or must not be done', () => {
  const comments = [
    'do not update, see the vendor',
    "Don't bump before the move",
    'Keep in step with the other shop',
    'Never above the tax',
    'The name must be that of the host',
    'pinned because of bug 4711',
    'Otherwise the port is taken',
    'Small. Only when the shop is open.',
  ];
  const entries = comments.map(
    (line, n) => `# The part of the shop\n# ${line}\n\npart${n}: ${n}\n`,
  );
  const yaml = `${entries.join('\n')}${'# The rest\n\nx: 1\n'.slice(0, 11)}`;
  const docker = `FROM node:20\n${comments.map((line) => `# A step of it\nRUN true\n# ${line}\nRUN ls`).join('\n')}\n`;
  for (const text of [yaml, docker]) {
    const out = stripConfig(text, { ...contextFor('config'), mode: 'aggressive' })?.text ?? text;
    for (const line of comments) assert.ok(out.includes(`# ${line}`), line);
  }
});

test.run();
