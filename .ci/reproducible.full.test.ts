/**
 * A commit's package has the same bytes wherever it is built, so that a release can be compared
 * with its sources.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { projectRoot } from '../fixtures/paths.ts';

const folder = fs.mkdtempSync(join(tmpdir(), 'svc-reproducible-'));
test.after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** The project's files in git, including uncommitted edits. */
const sources = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
  cwd: projectRoot,
  encoding: 'utf8',
}).split('\0');

/** Builds and packs a copy of the sources; returns the hash of the package. */
function packIn(place: string): string {
  const root = join(folder, place);
  for (const file of sources) {
    const from = join(projectRoot, file);
    if (file === '' || !fs.existsSync(from)) continue;
    fs.cpSync(from, join(root, file), { recursive: true });
  }
  // Real files, as after an install: a package's path influences the names of the bundle's parts.
  const modules = [join(projectRoot, 'node_modules'), join(root, 'node_modules')];
  if (spawnSync('cp', ['-al', ...modules]).status !== 0) {
    fs.rmSync(modules[1]!, { recursive: true, force: true });
    execFileSync('cp', ['-a', ...modules]);
  }
  const packed = spawnSync('npm', ['pack'], { cwd: root, encoding: 'utf8' });
  assert.is(packed.status, 0, packed.stderr);
  const file = join(root, packed.stdout.trim().split('\n').at(-1)!);
  return createHash('sha256').update(fs.readFileSync(file)).digest('hex');
}

test('two builds in two folders produce identical packages', () => {
  assert.is(packIn('one'), packIn(join('two', 'deeper')));
});

test.run();
