/** Completion by the real shells, if they are installed. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exitCodes } from '../exit.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';

async function script(shell: string): Promise<string> {
  const place = makePlace();
  const { code, stdout, stderr } = await run(place, ['completion', shell]);
  place.dispose();
  assert.is(code, 0, stderr);
  return stdout;
}

/** Returns what bash offers for the words of a line. */
function offered(source: string, words: readonly string[]): readonly string[] {
  const list = words.map((word) => `'${word}'`).join(' ');
  const ask = `${source}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', ask], { encoding: 'utf8' });
  assert.is(status, 0, stderr);
  return stdout.split('\n').filter((line) => line !== '');
}

test('bash offers commands, subcommands and the options of each', async () => {
  const source = await script('bash');
  assert.equal(offered(source, ['svc', 'integ']), ['integrate']);
  assert.equal(offered(source, ['svc', 'config', 'val']), ['validate']);
  assert.equal(offered(source, ['svc', 'doctor', '--off']), ['--offline']);
  assert.equal(offered(source, ['svc', 'integrate', 'codex', '--ap']), ['--apply']);
  assert.equal(offered(source, ['svc', 'config', 'show', '--json', '--cha']), ['--changed']);
  assert.equal(offered(source, ['svc', 'help', 'compr']), ['compression']);
  assert.equal(offered(source, ['svc', 'help', 'adapt']), ['adapters']);
  assert.equal(offered(source, ['svc', 'hel']), ['help']);
  assert.equal(offered(source, ['svc', 'no-such', 'demo', '--js']), []);
});

for (const shell of ['zsh', 'fish'])
  test(`the ${shell} script has every command, and parses if the shell is installed`, async () => {
    const source = await script(shell);
    for (const word of ['integrate', 'doctor', 'validate', 'offline']) assert.match(source, word);
    const place = makePlace();
    const file = join(place.folder, 'script');
    writeFileSync(file, source);
    // fish cannot read a script from the stdin that Node provides.
    const parsed = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
    place.dispose();
    if (parsed.error === undefined) assert.equal([parsed.status, parsed.stderr], [0, '']);
  });

test('an unknown shell is refused', async () => {
  const place = makePlace();
  const { code, stderr } = await run(place, ['completion', 'bsh']);
  assert.is(code, exitCodes.usage);
  assert.match(stderr, /did you mean bash/);
  place.dispose();
});

test.run();
