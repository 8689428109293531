/** The files that `npm pack` would include: complete, without tests, and small. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { neededDeclarations } from './declarations.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MAX_PACKED_BYTES = 3_050_000;
const MAX_UNPACKED_BYTES = 10_000_000;

interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const output = execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
  cwd: root,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
});
const [packed] = JSON.parse(output) as [Packed];
const paths = new Set(packed.files.map(({ path }) => path));

const IMPORT = /(?:from\s*|import\(\s*|import\s+|new URL\(\s*)["'](\.{1,2}\/[^"'`\s]+\.js)["']/g;

/** Returns every file of ours reachable from `entries`, by import or as a thread. */
function reachedFrom(entries: readonly string[]): Set<string> {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, to] of text.matchAll(IMPORT)) visit(normalize(join(dirname(file), to!)));
  };
  entries.forEach(visit);
  return reached;
}

test('the package has every file that its exports and benchmark processes import, with types', () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const entryPoints = Object.values(exports).map((path) => normalize(path));
  const reached = [...reachedFrom(entryPoints)];
  const typed = [...neededDeclarations(root, join(root, 'dist'))].map((path) => `dist/${path}`);
  const forked = reachedFrom([
    'dist/bench/load.js',
    'dist/bench/plain-proxy.js',
    'dist/fixtures/upstream-main.js',
  ]);
  assert.ok(reached.length > 100 && typed.length > 100);
  assert.equal(
    [...reached, ...typed, ...forked].filter((file) => !paths.has(file)),
    [],
  );
  const declared = [...paths].filter((path) => path.endsWith('.d.ts'));
  assert.equal(declared.toSorted(), typed.toSorted());
  const modules = [...paths].filter((path) => /^dist\/(?!app\/).*\.js$/.test(path));
  assert.equal(modules.toSorted(), [...new Set([...reached, ...forked])].toSorted());
});

test('the program, its data and the documents are in the package', () => {
  const wanted = ['LICENSE', 'README.md', 'SECURITY.md', 'CHANGELOG.md', 'docs/index.md'];
  const data = ['dist/recipes.json', 'fixtures/demo/session.json', 'plugins/recipes/pytest.yaml'];
  const program = ['dist/app/main.js', 'dist/app/definitions.json', 'dist/app/guides.json'];
  assert.equal(
    [...wanted, ...data, ...program].filter((file) => !paths.has(file)),
    [],
  );
});

test('the package has no test, corpus check, source map or leftover of an earlier build', () => {
  const unwanted = /\.test\.|-testing\.|\/corpus|\.map$|\.tsx?$|\.npmignore$/;
  assert.equal(
    [...paths].filter((path) => unwanted.test(path.replace(/\.d\.ts$/, ''))),
    [],
  );
  const stale = readFileSync(join(root, 'dist', 'app', '.npmignore'), 'utf8').split('\n');
  assert.equal(
    stale.filter((name) => name !== '' && paths.has(`dist/app${name}`)),
    [],
  );
});

test('the package stays within its size limit', () => {
  assert.ok(packed.size < MAX_PACKED_BYTES, `${packed.size} bytes packed`);
  assert.ok(packed.unpackedSize < MAX_UNPACKED_BYTES, `${packed.unpackedSize} bytes unpacked`);
});

test.run();
