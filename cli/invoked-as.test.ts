/** How messages name svc in commands for the user: in a checkout, installed, and run by npx. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { invokedAs } from './invoked-as.ts';

/** Runs `use` with a package folder in a project with this `package.json`. */
function withProject(folder: string, project: unknown, use: (packageFolder: string) => void): void {
  const root = mkdtempSync(join(tmpdir(), 'svc-invoked-'));
  try {
    const installed = join(root, folder, 'node_modules/svc');
    mkdirSync(installed, { recursive: true });
    writeFileSync(join(root, folder, 'package.json'), JSON.stringify(project));
    use(installed);
  } finally {
    rmSync(root, { recursive: true });
  }
}

const RUN_BY_NPX = { _npx: { packages: ['./svc-0.6.0.tgz'] } };

test('npm scripts of a checkout are named as such', () => {
  for (const script of ['start', 'svc'])
    assert.is(invokedAs({ npm_lifecycle_event: script }, '/nowhere'), 'npm run svc --');
});

test('a package that npx installed for one run is named by what npx was given', () => {
  withProject('_npx/0123456789abcdef', RUN_BY_NPX, (folder) =>
    assert.is(invokedAs({}, folder), 'npx ./svc-0.6.0.tgz'),
  );
});

test('svc is named svc wherever else it is installed', () => {
  assert.is(invokedAs({}, '/nowhere/node_modules/svc'), 'svc');
  withProject('project', RUN_BY_NPX, (folder) => assert.is(invokedAs({}, folder), 'svc'));
  for (const project of [
    {},
    null,
    { _npx: { packages: [] } },
    { _npx: { packages: ['./a folder/svc.tgz'] } },
    { _npx: { packages: ['./svc.tgz', 'other'] } },
  ])
    withProject('_npx/0123456789abcdef', project, (folder) =>
      assert.is(invokedAs({}, folder), 'svc', JSON.stringify(project)),
    );
});

test.run();
