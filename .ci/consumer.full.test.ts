/**
 * The package as its users get it: packed, unpacked next to its dependencies, checked by package
 * linters, compiled against, bundled, and with its documented programs run.
 */
import { execFile, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { projectRoot } from '../fixtures/paths.ts';
import { withProxy } from '../fixtures/proxy.ts';

const execute = promisify(execFile);
const folder = fs.mkdtempSync(join(tmpdir(), 'svc-consumer-'));
test.after(() => fs.rmSync(folder, { recursive: true, force: true }));

const own = join(projectRoot, 'node_modules');
const tool = (name: string) => join(own, '.bin', name);
const tarball = pack();

/** Packs the build, and installs it into the folder without a registry. */
function pack(): string {
  const argv = ['pack', '--ignore-scripts', '--pack-destination', folder];
  const packed = spawnSync('npm', argv, { cwd: projectRoot, encoding: 'utf8' });
  assert.is(packed.status, 0, packed.stderr);
  const file = join(folder, packed.stdout.trim().split('\n').at(-1)!);
  const installed = join(folder, 'node_modules', 'svc');
  fs.mkdirSync(installed, { recursive: true });
  spawnSync('tar', ['xzf', file, '-C', installed, '--strip-components=1']);
  const { dependencies, optionalDependencies } = JSON.parse(
    fs.readFileSync(join(installed, 'package.json'), 'utf8'),
  ) as Record<string, Readonly<Record<string, string>>>;
  // What a consumer has installed: Node's types, and the SDK of the example.
  const names = Object.keys({ ...dependencies, ...optionalDependencies });
  for (const name of [...names, '@types/node', 'ai']) {
    const link = join(folder, 'node_modules', name);
    fs.mkdirSync(dirname(link), { recursive: true });
    fs.symlinkSync(join(own, name), link);
  }
  fs.writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  return file;
}

const CONSUMER = `
import { startProxy } from 'svc';
import type { RunningProxy, StartOptions } from 'svc';
import { SvcError, chain, defineStage } from 'svc/engine';
import { END, toChunk } from 'svc/stages';
import type { ProxyFrame, ProxyRequest } from 'svc/stages';
import { definePlugin, defineProvider } from 'svc/plugins';
import { testPlugin } from 'svc/testing';
import { AgentFrameworkAdapter, MessagesAdapter, MultiProviderAdapter, SvcAdapterError } from 'svc/client';

const provider = defineProvider({ name: 'mine', kind: 'chat', baseUrl: 'http://127.0.0.1:9', auth: 'none' });
export const exported = [startProxy, SvcError, chain, defineStage, END, toChunk, definePlugin, testPlugin, provider, AgentFrameworkAdapter, MultiProviderAdapter];
export type Types = [RunningProxy, StartOptions, ProxyFrame, ProxyRequest];

export async function ask(baseUrl: string): Promise<number | null> {
  const adapter = new MessagesAdapter({ baseUrl, apiKey: 'k' });
  try {
    const messages = [{ role: 'user', content: 'hi' }];
    const answer = await adapter.call({ model: 'm', max_tokens: 9, messages });
    return adapter.extractTokens(answer).input_tokens;
  } catch (error) {
    if (error instanceof SvcAdapterError) return error.statusCode ?? null;
    throw error;
  }
}
// @ts-expect-error an option that there is not
new MessagesAdapter({ baseURL: 'http://127.0.0.1:1' });
// @ts-expect-error a kind that there is not
defineProvider({ name: 'mine', kind: 'poetry', baseUrl: 'http://127.0.0.1:9' });
// @ts-expect-error max_tokens is missing
void new MessagesAdapter({}).call({ model: 'm', messages: [] });
`;

test('a strict TypeScript project compiles against every export', async () => {
  fs.writeFileSync(join(folder, 'consumer.ts'), CONSUMER);
  const strict = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes'];
  const argv = ['--noEmit', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
  const { stdout } = await execute(tool('tsc'), [...argv, ...strict, 'consumer.ts'], {
    cwd: folder,
  }).catch((failed: { stdout: string }) => failed);
  // Our declarations are checked too; errors in those of others are ignored.
  const found = stdout.split('\n').filter((line) => line.includes('error TS'));
  const ours = found.filter((line) => !/^[^(]*node_modules\/(?!svc\/)/.test(line));
  assert.equal(ours, []);
});

test('publint and attw report no problem', async () => {
  const lint = await execute(tool('publint'), [tarball, '--strict']);
  assert.match(lint.stdout, 'All good');
  await execute(tool('attw'), [tarball, '--profile', 'esm-only']);
});

test('a bundle holds only the imported adapters, and no Node built-in module', async () => {
  const bundle = async (source: string) => {
    const { outputFiles } = await build({
      stdin: { contents: source, resolveDir: folder },
      bundle: true,
      write: false,
      format: 'esm',
      // A Node module would fail a build for the browser.
      platform: 'browser',
      minify: false,
      logLevel: 'silent',
    });
    return outputFiles[0]!.text;
  };
  const one = await bundle(
    `import { MessagesAdapter } from 'svc/client'; console.log(MessagesAdapter);`,
  );
  const all = await bundle(`import * as all from 'svc/client'; console.log(all);`);
  for (const name of ['AgentFrameworkAdapter', 'MultiProviderAdapter', 'ChatCompletionsAdapter']) {
    assert.match(all, name);
    assert.not.match(one, name);
  }
  assert.ok(one.length < all.length * 0.6, `${one.length} of ${all.length}`);
  assert.is((await bundle(`import 'svc/client';`)).trim().length < 200, true);
});

test('every program on the adapters page runs', () =>
  withProxy({}, async (t) => {
    const page = fs.readFileSync(join(projectRoot, 'docs', 'adapters.md'), 'utf8');
    const programs = [...page.matchAll(/^```js\n([^]*?)^```/gm)].map(([, source]) => source!);
    const wanted = [
      /^You said: Say hello\..*\n\d+\n$/,
      /^You said: Say hello\./,
      /^claude-sonnet-4-5 \d+\ngpt-4o \d+\n$/,
      /^You said: Say hello\./,
      /^true .*messages/,
    ];
    assert.is(programs.length, wanted.length);
    for (const [at, source] of programs.entries()) {
      const file = join(folder, `example-${at}.mjs`);
      fs.writeFileSync(file, source);
      const env = { PATH: process.env['PATH'], SVC_URL: t.proxy.url };
      const { stdout } = await execute(process.execPath, [file], { env });
      assert.match(stdout, wanted[at]!, source);
    }
  }));

test.run();
