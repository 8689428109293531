/** Stack traces only lose frames of installed code, and never those nearest the error. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { shortenTraces } from './shorten-traces.ts';
import { contextFor } from '../../../../fixtures/compress/texts.ts';

const CONTEXT = contextFor('trace');

const short = (text: string): string => shortenTraces(text, CONTEXT)?.text ?? text;
const js = (path: string): string => `    at run (${path}:10:5)`;
const java = (name: string): string => `\tat ${name}(File.java:12)`;
const python = (path: string): string => `  File "${path}", line 7, in f\n    call()`;
const many = (
  frame: (path: string) => string,
  path: (n: number) => string,
  count = 8,
): readonly string[] => Array.from({ length: count }, (_, n) => frame(path(n)));
const thrown = (...frames: readonly string[]): string =>
  ['Error: it broke', ...frames, ''].join('\n');

test('keeps the project’s own frames, whatever its folders and packages are called', () => {
  for (const text of [
    thrown(...many(js, (n) => `/app/src/runtime/part${n}.ts`)),
    thrown(...many(js, (n) => `/app/src/internal/part${n}.js`)),
    thrown(...many(js, (n) => `/usr/src/app/gems/part${n}.js`)),
    thrown(...many(java, (n) => `org.apache.spark.sql.Part${n}.run`), java('java.lang.Thread.run')),
    thrown(...many(java, (n) => `org.springframework.core.Part${n}.run`)),
    thrown(...many(java, (n) => `com.acme.java.util.Part${n}.run`)),
    thrown(...many(java, (n) => `com.acme.scala.Part${n}.run`)),
    [
      'Traceback (most recent call last):',
      ...many(python, (n) => `/srv/shop/vendor/part${n}.py`),
      'E: x',
    ].join('\n'),
    [
      'Traceback (most recent call last):',
      ...many(python, (n) => `/srv/runtime/part${n}.py`),
      'E: x',
    ].join('\n'),
    [
      "a.rb:1:in `f': x",
      ...many(
        (path) => `\tfrom ${path}:3:in \`g'`,
        (n) => `/home/me/gems/part${n}.rb`,
      ),
    ].join('\n'),
  ])
    assert.is(short(text), text);
});

test('removes frames of installed packages between the project’s own frames', () => {
  const places: readonly (readonly [(path: string) => string, (n: number) => string])[] = [
    [js, (n) => `/app/node_modules/x/part${n}.js`],
    [js, (n) => `node_modules/x/part${n}.js`],
    [js, (n) => `C:\\app\\node_modules\\x\\part${n}.js`],
    [js, (n) => `node:internal/modules/part${n}`],
    [java, (n) => `java.base/java.util.stream.Part${n}.run`],
    [java, (n) => `java.util.stream.Part${n}.run`],
    [java, (n) => `scala.collection.Part${n}.run`],
    [java, (n) => `org.springframework.web.Part${n}.run`],
    [java, (n) => `app//org.junit.runner.Part${n}.run`],
  ];
  for (const [frame, path] of places) {
    const own =
      frame === java ? (n: number) => `com.acme.Own${n}.run` : (n: number) => `/app/src/own${n}.ts`;
    const middle = many(frame, path);
    const text = thrown(...many(frame, own, 12), ...middle, frame(own(99)));
    const out = short(text);
    assert.match(out, 'omitted 8 of', text);
    for (const line of [...many(frame, own, 12), frame(own(99))]) assert.match(out, line);
  }
  for (const folder of [
    '/venv/lib/python3.12/site-packages/x',
    '/usr/lib/python3/dist-packages/x',
    '/usr/lib/python3.11',
  ]) {
    const text = [
      'Traceback (most recent call last):',
      python('/srv/a.py'),
      ...many(python, (n) => `${folder}/part${n}.py`),
      python('/srv/b.py'),
      'E: x',
    ].join('\n');
    const out = short(text);
    assert.match(out, 'omitted 16 of');
    for (const kept of ['/srv/a.py', '/srv/b.py', 'E: x']) assert.match(out, kept);
  }
});

test('keeps the frames nearest the error and the outermost one, even if there are no others', () => {
  const only = thrown(...many(js, (n) => `/app/node_modules/x/part${n}.js`));
  assert.is(short(only), only);
  const causes = `${only}Caused by: x\n${many(java, (n) => `java.util.Part${n}.run`).join('\n')}\n\t... 23 more\n`;
  assert.is(short(causes), causes);
  const text = thrown(
    ...many(js, (n) => `/app/node_modules/x/part${n}.js`, 20),
    js('/app/src/own.ts'),
    ...many(js, (n) => `/app/node_modules/y/part${n}.js`, 20),
  );
  const out = short(text);
  for (const kept of ['x/part0.js', 'x/part1.js', 'x/part2.js', '/app/src/own.ts', 'y/part19.js'])
    assert.match(out, kept);
  for (const gone of ['x/part3.js', 'y/part18.js']) assert.not.match(out, gone);
  const inner = [
    'Traceback (most recent call last):',
    python('/srv/a.py'),
    ...many(python, (n) => `/v/site-packages/x/part${n}.py`, 20),
    'E: x',
  ].join('\n');
  const kept = short(inner);
  for (const path of ['/srv/a.py', 'part17.py', 'part18.py', 'part19.py']) assert.match(kept, path);
  assert.not.match(kept, 'part16.py');
});

test('keeps the frames of a project that is itself a framework', () => {
  const text = thrown(
    java('java.lang.String.valueOf'),
    ...many(java, (n) => `org.springframework.boot.Part${n}.run`),
    ...many(java, (n) => `org.junit.jupiter.Part${n}.run`),
    java('com.acme.Main.main'),
  );
  const out = short(text);
  for (const frame of many(java, (n) => `org.springframework.boot.Part${n}.run`))
    assert.match(out, frame);
  assert.not.match(out, 'jupiter.Part3');
});

test('removes frames inside libraries; keeps messages, own frames, the first and the last frame', () => {
  const library = Array.from(
    { length: 12 },
    (_, n) =>
      `  File "/venv/lib/python3.12/site-packages/lib/m${n}.py", line ${n}, in f${n}\n    call(${n})`,
  );
  const text = [
    'Traceback (most recent call last):',
    '  File "/app/main.py", line 3, in <module>\n    run()',
    ...library,
    '  File "/app/job.py", line 9, in job\n    raise KeyError(1)',
    'KeyError: 1',
    '',
  ].join('\n');
  const out = shortenTraces(text, CONTEXT)!;
  for (const kept of ['/app/main.py', '/app/job.py', 'KeyError: 1', 'Traceback'])
    assert.match(out.text, kept);
  assert.not.match(out.text, 'm5.py');
  assert.match(out.text, 'omitted 24 of');
  assert.equal(out.removed, [{ from: 3, to: 27 }]);
});

test.run();
