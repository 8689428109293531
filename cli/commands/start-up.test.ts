/**
 * Help and read-only commands load a small part of the program, since loading takes time. Their
 * duration is checked by `npm run bench:limits`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entry, inPlace, run } from '../../fixtures/cli/run.ts';
import { READING_COMMANDS } from '../../fixtures/cli/reading-commands.ts';
import { openIn } from '../../fixtures/ledger/temp-ledger.ts';

/** A third more than on 2026-11-26. */
const MAX_KIB: Readonly<Record<string, number>> = {
  '--help': 220,
  'help compression': 220,
  'config validate': 2800,
};
const READING_KIB = 1450;

const HOOK = `import { appendFileSync } from 'node:fs';
export const load = (url, context, next) => {
  appendFileSync(process.env.LOADED, url + '\\n');
  return next(url, context);
};`;
const asModule = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`;
const REGISTER = asModule(
  `import { register } from 'node:module'; register(${JSON.stringify(asModule(HOOK))});`,
);

test('help and read-only commands load few modules', () =>
  inPlace(async (place) => {
    await run(place, ['config', 'init']);
    await openIn(place.folder, { file: join(place.home, 'monitor.db') }).writer.close();
    /** Returns the size of the modules that the command loads, in KiB. */
    const loadedKiB = (argv: readonly string[], n: number): number => {
      const list = join(place.folder, `loaded-${n}`);
      const { status, stderr } = spawnSync(
        process.execPath,
        ['--import', REGISTER, entry, ...argv],
        { env: { ...place.env, LOADED: list }, cwd: place.folder, encoding: 'utf8' },
      );
      assert.is(status, 0, `${argv.join(' ')}: ${stderr}`);
      const files = readFileSync(list, 'utf8')
        .split('\n')
        .filter((url) => url.startsWith('file:'))
        .map((url) => fileURLToPath(url.replace(/\?.*/, '')));
      return (
        files.reduce((sum, file) => sum + (existsSync(file) ? statSync(file).size : 0), 0) / 1024
      );
    };
    const largestModules = [['--help'], ...READING_COMMANDS]
      .map((argv, n) => ({ command: argv.join(' '), kib: Math.round(loadedKiB(argv, n)) }))
      .filter(({ command, kib }) => kib > (MAX_KIB[command] ?? READING_KIB));
    assert.equal(largestModules, []);
  }));

test.run();
