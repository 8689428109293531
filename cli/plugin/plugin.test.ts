/** A new plugin from its author's view: written, tested, configured, listed, measured. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixturePath, projectRoot } from '../../fixtures/paths.ts';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';

const place = makePlace();
test.after(() => place.dispose());

const module = join(place.folder, 'word-count', 'word-count.mjs');

test('the test that `new` writes passes, and fails once the plugin is broken', async () => {
  const made = await run(place, ['plugin', 'new', 'word-count']);
  assert.is(made.code, 0, made.stderr);
  assert.match(made.stdout, /svc plugin test word-count\/word-count\.mjs/);
  const passed = await start(place, ['plugin', 'test', 'word-count']).ended;
  assert.is(passed.code, 0, passed.stdout);
  assert.match(passed.stdout, /^. pass 1$/m);
  const source = readFileSync(module, 'utf8');
  writeFileSync(module, source.replace('ctx.state.words =', 'ctx.state.words = 1 +'));
  const failed = await start(place, ['plugin', 'test', 'word-count/word-count.mjs']).ended;
  assert.is(failed.code, 1, failed.stdout);
  writeFileSync(module, source);
});

test('`new` overwrites nothing and requires a name', async () => {
  const again = await run(place, ['plugin', 'new', 'word-count']);
  assert.is.not(again.code, 0);
  assert.match(again.stderr, /already exists; nothing was written/);
  const wrong = await run(place, ['plugin', 'new', '../x']);
  assert.is(wrong.code, 2);
  assert.match(wrong.stderr, /cannot be a plugin's name/);
});

test('`test` without tests says where they are expected', async () => {
  const none = await run(place, ['plugin', 'test', fixturePath('plugins', 'footer.mjs')]);
  assert.is.not(none.code, 0);
  assert.match(none.stderr, /no test for .*footer\.mjs/);
});

test('`list` shows what is configured and its position, and what cannot be loaded', async () => {
  const config = join(place.folder, 'c.yaml');
  const footer = fixturePath('plugins', 'footer.mjs');
  const acme = join(projectRoot, 'examples', 'provider', 'acme.mjs');
  const configure = (settings: string) =>
    writeFileSync(
      config,
      `plugins:\n  - { module: ${footer}, config: { ${settings} } }\ncustom_providers: [{ module: ${acme}, name: acme }]\n`,
    );
  configure('text: checked');
  const printed = await run(place, ['plugin', 'list', '--config', config, '--json']);
  assert.is(printed.code, 0, printed.stderr);
  const { plugins } = JSON.parse(printed.stdout) as {
    plugins: readonly { name: string; brings: readonly string[] }[];
  };
  assert.equal(
    plugins.map(({ name, brings }) => [name, ...brings]),
    [
      ['footer', 'stage footer after forward'],
      ['acme', 'provider acme (chat)'],
    ],
  );
  configure('');
  const faulty = await run(place, ['plugin', 'list', '--config', config]);
  assert.is(faulty.code, 1);
  assert.match(faulty.stdout, /cannot be loaded: .*text is missing/);
  assert.match(faulty.stdout, /provider acme \(chat\)/);
});

test('`bench` shows the time that a slow stage adds', async () => {
  const slow = join(place.folder, 'slow.mjs');
  writeFileSync(
    slow,
    `export default { name: 'slow', setup: ({ config }) => ({ stages: [{ before: 'route', on: {
      request: () => new Promise((done) => setTimeout(done, config.ms)),
    } }] }) };`,
    { mode: 0o644 },
  );
  const bench = ['plugin', 'bench', slow, '--requests', '10', '--json', '--settings', '{ms: 30}'];
  const { code, stdout, stderr } = await run(place, bench);
  assert.is(code, 0, stderr);
  const { whole, streamed } = JSON.parse(stdout) as Record<string, Record<string, number>>;
  for (const kind of [whole, streamed]) {
    assert.ok((kind?.['added_ms_p50'] ?? 0) > 15, stdout);
    // The variation between rounds is reported too, never a bare figure.
    assert.ok((kind?.['added_ms_p50_plus_minus'] ?? -1) >= 0, stdout);
    assert.ok((kind?.['added_ms_p95_plus_minus'] ?? -1) >= 0, stdout);
  }
});

test.run();
