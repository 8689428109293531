import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkDefinition } from './check.ts';
import { defineProvider } from './index.ts';
import { loadProviders } from './load.ts';

const SOUND = `export default { kind: 'chat', baseUrl: 'https://llm.example/api' };\n`;

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-plugins-'));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function write(folder: string, name: string, text: string, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

/** Returns the fault of a module. */
async function faultOf(module: string): Promise<string | undefined> {
  const { faults } = await loadProviders([{ module, name: 'one' }]);
  return faults[0]?.message;
}

test('a faulty module disables only itself, and its fault names it', () =>
  inFolder(async (folder) => {
    const good = write(folder, 'good.mjs', SOUND);
    const throwing = write(folder, 'throwing.mjs', `throw new Error('no tenant');`);
    const { definitions, faults } = await loadProviders([
      { module: throwing, name: 'bad' },
      { module: good, name: 'good' },
      { module: join(folder, 'none.mjs'), name: 'none' },
    ]);
    assert.equal([...definitions.keys()], ['good']);
    assert.equal(
      faults.map(({ name, message }) => [name, message]),
      [
        ['bad', `${throwing}: no tenant`],
        ['none', `${join(folder, 'none.mjs')}: it does not exist`],
      ],
    );
  }));

test('does not load a module that other users can write', () =>
  inFolder(async (folder) => {
    const ran = join(folder, 'ran');
    const text = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(ran)}, ''); ${SOUND}`;
    const loose = write(folder, 'loose.mjs', text, 0o622);
    assert.match((await faultOf(loose)) ?? '', /the file can be written by other users/);
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const inside = write(open, 'inside.mjs', text);
    assert.match((await faultOf(inside)) ?? '', /its folder can be written by other users/);
    chmodSync(open, 0o1777);
    assert.is(await faultOf(inside), undefined, 'a sticky folder is accepted like a private one');
  }));

test('a reload imports a changed module again, but not an unchanged one', () =>
  inFolder(async (folder) => {
    const path = write(folder, 'one.mjs', SOUND);
    const source = [{ module: path, name: 'one' }];
    const first = (await loadProviders(source)).definitions.get('one');
    assert.is((await loadProviders(source)).definitions.get('one'), first);
    write(folder, 'one.mjs', SOUND.replace('/api', '/new'));
    const second = (await loadProviders(source)).definitions.get('one');
    assert.is(second?.baseUrl, 'https://llm.example/new');
  }));

test('a wrong file type, a missing default export and a syntax error give different faults', () =>
  inFolder(async (folder) => {
    assert.match((await faultOf(write(folder, 'a.cjs', ''))) ?? '', /ends in \.js or \.mjs/);
    assert.match((await faultOf(write(folder, 'b.mjs', 'export const x = 1;'))) ?? '', /default/);
    const syntax = write(folder, 'c.mjs', 'export default {');
    assert.match((await faultOf(syntax)) ?? '', /c\.mjs: /);
  }));

test('every fault of a definition is reported', () => {
  const checked = checkDefinition({
    kind: 'soap',
    baseUrl: 7,
    headers: { Host: 'x' },
    auth: { env: 'NOT A NAME' },
    timeoutSeconds: -1,
    event: 'no',
    colour: 'red',
  });
  assert.ok(!checked.ok);
  const named = checked.faults.map((fault) => /^\w+/.exec(fault)?.[0]);
  const expected = ['colour', 'kind', 'baseUrl', 'auth', 'headers', 'timeoutSeconds', 'event'];
  assert.equal(named, expected);
});

test('an address that would send keys unencrypted is refused', () => {
  const faults = (baseUrl: string, more = {}) => {
    const checked = checkDefinition({ kind: 'chat', baseUrl, ...more });
    return checked.ok ? [] : checked.faults;
  };
  for (const good of ['https://a.example', 'http://127.0.0.1:1/v1', 'http://[::1]:1'])
    assert.equal(faults(good), [], good);
  for (const bad of ['a.example', 'ftp://a', 'http://a.example', 'https://u:p@a', 'https://a?b'])
    assert.is(faults(bad).length, 1, bad);
  assert.equal(faults('http://a.example', { allowInsecure: true }), []);
  assert.equal(
    faults('https://a.example/v1/chat/completions'),
    [],
    'a full address is accepted too',
  );
});

test('defineProvider returns a frozen definition', () => {
  const definition = defineProvider({ kind: 'chat', baseUrl: 'https://a.example' });
  assert.ok(Object.isFrozen(definition));
});

test.run();
