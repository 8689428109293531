/**
 * The repository's own programs explain how to call them, and what is wrong with a command line.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const PROGRAMS = {
  test: '.ci/test',
  'run bench': 'bench/main',
  'run bench:limits': 'bench/limits/main',
  'run bench:quality': 'bench/quality/main',
  'run bench:sessions': 'bench/sessions/main',
  'run bench:storms': 'bench/storms/main',
  'run scoreboard': 'bench/scoreboard/main',
  'run test:clients': 'fixtures/clients/main',
};

for (const [script, path] of Object.entries(PROGRAMS)) {
  const run = (option: string) => {
    const file = fileURLToPath(new URL(`../${path}.js`, import.meta.url));
    return spawnSync(process.execPath, [file, option], { encoding: 'utf8' });
  };

  test(`npm ${script}: --help prints the usage, and an unknown option is refused`, () => {
    const { status, stdout, stderr } = run('--help');
    assert.equal([status, stderr], [0, '']);
    assert.match(stdout, `npm ${script}`);
    const refused = run('--no-such-option');
    assert.equal([refused.status, refused.stdout], [2, '']);
    assert.is(refused.stderr, `error: Unknown option '--no-such-option'\n\n${stdout}`);
  });
}

test.run();
