/** Everything in `examples` runs as its page says, and equals the files shown in the documents. */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { makePlace, run } from '../fixtures/cli/run.ts';
import { projectRoot } from '../fixtures/paths.ts';
import { withProxy } from '../fixtures/proxy.ts';

const examples = join(projectRoot, 'examples');
const textOf = (...path: readonly string[]) => fs.readFileSync(join(projectRoot, ...path), 'utf8');

/** Returns the output of a program in `examples`, with `url` as the proxy's address. */
async function printed(program: string, url: string, ...more: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], SVC_URL: url, API_KEY: 'mine', MODEL: 'gpt-4o' };
  const argv = [join(examples, program), ...more];
  const { stdout } = await promisify(execFile)(process.execPath, argv, { env, timeout: 120_000 });
  return stdout;
}

/** Runs `use` with a home of its own, in a folder that contains `examples` like a checkout. */
async function withExamples(
  use: (
    svc: (...argv: readonly string[]) => ReturnType<typeof run>,
    folder: string,
  ) => Promise<void>,
): Promise<void> {
  const place = makePlace();
  fs.cpSync(examples, join(place.folder, 'examples'), { recursive: true });
  try {
    await use((...argv) => run(place, argv), place.folder);
  } finally {
    place.dispose();
  }
}

test('every document that quotes an example file quotes it exactly', () => {
  const files = fs
    .readdirSync(examples, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.includes('/'));
  let count = 0;
  for (const page of fs
    .readdirSync(join(projectRoot, 'docs'))
    .filter((name) => name.endsWith('.md')))
    for (const [, name, text] of textOf('docs', page).matchAll(
      /^```\w+ (\S+\.\w+)\n([^]*?)^```/gm,
    )) {
      const file = files.find((path) => basename(path) === basename(name!));
      if (file === undefined) continue;
      count += 1;
      assert.is(text, textOf('examples', file), `docs/${page}: change examples/${file} with it`);
    }
  assert.is(count, 5);
});

test('every example folder is on the page, and every file named on the page exists', () => {
  const page = textOf('examples/README.md');
  const folders = fs
    .readdirSync(examples, { withFileTypes: true })
    .filter((one) => one.isDirectory());
  assert.is(folders.length, 10);
  for (const { name } of folders) assert.ok(page.includes(`| \`examples/${name}\` |`), name);
});

test('the recipe passes its own example', () =>
  withExamples(async (svc) => {
    const { code, stdout, stderr } = await svc('recipe', 'test', 'examples/recipe/shop.yaml');
    assert.is(code, 0, stderr);
    assert.match(stdout, '1 of 1 example holds');
  }));

test('the macro shortens a log and keeps its important lines', () =>
  withExamples(async (svc, folder) => {
    const made = await svc('macro', 'create', 'build-log', 'examples/macro/build-log.yaml');
    assert.is(made.code, 0, made.stderr);
    const ran = await svc('macro', 'run', 'build-log', '--var', 'log=examples/macro/build.log');
    assert.is(ran.code, 0, ran.stderr);
    const small = fs.readFileSync(join(folder, 'small.log'), 'utf8');
    assert.ok(small.length < textOf('examples/macro/build.log').length / 2, small);
    assert.match(small, "unused variable 'price'");
  }));

test('the macro that runs as a stage is placed before compress', () =>
  withExamples(async (svc) => {
    const made = await svc('macro', 'create', 'build-stage', 'examples/macro/build-stage.yaml');
    assert.is(made.code, 0, made.stderr);
    const { code, stdout, stderr } = await svc('graph', '--macro', 'build-stage');
    assert.is(code, 0, stderr);
    assert.match(stdout, /build-stage[^]*\n +compress/);
  }));

for (const name of ['stage', 'stage-stream', 'provider', 'redaction'])
  test(`the tests of ${name} pass`, async () => {
    const argv = fs
      .readdirSync(join(examples, name))
      .filter((file) => file.endsWith('.test.mjs'))
      .map((file) => join(examples, name, file));
    assert.ok(argv.length > 0);
    const env = { PATH: process.env['PATH'], HOME: fs.mkdtempSync(join(tmpdir(), 'svc-example-')) };
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', ...argv], { env });
    assert.match(stdout, /^# pass [1-9]/m);
    assert.match(stdout, /^# fail 0/m);
    fs.rmSync(env.HOME, { recursive: true, force: true });
  });

test('the CI job passes for the recorded configuration and fails for a different one', async () => {
  const { jobs } = parse(textOf('examples/replay-in-ci/check.yml')) as {
    readonly jobs: { readonly replay: { readonly steps: readonly { readonly run?: string }[] } };
  };
  const line = jobs.replay.steps.at(-1)!.run!;
  assert.match(line, /^npx svc replay run captures\/\*\.msgpack /);
  await withProxy({ yaml: textOf('examples/replay-in-ci/proxy.yaml') }, (recorder) =>
    withExamples(async (svc, folder) => {
      const result = Array.from({ length: 400 }, (_, n) => `src/page-${n % 7}.ts:${n}: title`).join(
        '\n',
      );
      const messages = [
        { role: 'user', content: 'Where are titles?' },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'grep -rn title src' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: result }] },
      ];
      await (
        await fetch(`${recorder.proxy.url}/v1/messages`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-api-key': 'mine',
            'x-svc-capture': 'on',
          },
          body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 9, messages }),
        })
      ).text();
      await recorder.rows(1);
      await recorder.proxy.services.captures.flush();
      // As `svc replay show <id> --save` does, for the only record.
      const captured = join(recorder.db, '..', 'captures');
      fs.cpSync(captured, join(folder, 'captures'), { recursive: true });
      const files = fs.readdirSync(join(folder, 'captures')).map((name) => join('captures', name));
      assert.is(files.length, 1);
      const argv = line.replace('npx svc ', '').replace('captures/*.msgpack', files.join(' '));
      fs.cpSync(join(examples, 'replay-in-ci/proxy.yaml'), join(folder, 'proxy.yaml'));
      const same = await svc(...argv.split(' '));
      assert.is(same.code, 0, `${same.stdout}${same.stderr}`);
      fs.writeFileSync(join(folder, 'proxy.yaml'), 'compression: { mode: strict }\n');
      assert.is((await svc(...argv.split(' '))).code, 1);
    }),
  );
});

test('the programs print the response, or the error with its cause', () =>
  withProxy({}, async (t) => {
    assert.match(await printed('adapters/ask.mjs', t.proxy.url, 'Why?'), /^You said: Why\?.*\n$/);
    assert.match(
      await printed('websocket/client.mjs', t.proxy.url),
      /^You said: Say hello\..*\nYou said: Say goodbye\..*\n$/,
    );
    t.upstream.script(undefined, '500');
    const failed = await printed('adapters/ask.mjs', t.proxy.url).catch(
      (thrown: unknown) => thrown,
    );
    assert.match(String((failed as { readonly stderr: unknown }).stderr), /^500: /);
  }));

test('every metric in the dashboard, the alerts and the Prometheus configuration exists', () =>
  withProxy({}, async (t) => {
    await printed('adapters/ask.mjs', t.proxy.url);
    await t.rows(1);
    const text = await (await fetch(`${t.proxy.url}/metrics`)).text();
    const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!));
    const named = `${textOf('examples/grafana/board.json')}${textOf('examples/grafana/alerts.yaml')}`;
    const names = new Set([...named.matchAll(/\b(?:svc|process)_\w+/g)].map(([name]) => name));
    assert.ok(names.size > 20);
    for (const name of names)
      assert.ok(known.has(name.replace(/_(?:bucket|sum|count)$/, '')), name);
  }));

test.run();
