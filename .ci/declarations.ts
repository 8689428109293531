/**
 * Finds the modules and type declarations that the package needs: those reachable from its exports.
 * The others are in the bundled program, or only help developers of svc itself, and made the
 * package 10 % larger.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const IMPORT = /(?:from\s*|import\()["'](\.{1,2}\/[^"']+)\.(?:ts|js)["']/g;

/**
 * Returns the declarations in `folder`, a build of `root`'s sources, that the package's exports
 * reach.
 */
export function neededDeclarations(root: string, folder: string): ReadonlySet<string> {
  const needed = new Set<string>();
  const visit = (path: string): void => {
    if (needed.has(path) || !existsSync(join(folder, path))) return;
    needed.add(path);
    const text = readFileSync(join(folder, path), 'utf8');
    for (const [, to] of text.matchAll(IMPORT))
      visit(normalize(join(dirname(path), `${to!}.d.ts`)));
  };
  for (const entryPoint of exportsOf(root))
    visit(relative('dist', normalize(entryPoint)).replace(/\.js$/, '.d.ts'));
  return needed;
}

const MODULE = /(?:from\s*|import\(\s*|import\s+|new URL\(\s*)["'](\.{1,2}\/[^"'`\s]+\.js)["']/g;
/** Modules that `svc benchmark` starts as processes. */
const PROCESSES = ['bench/load.js', 'bench/plain-proxy.js', 'fixtures/upstream-main.js'];

/**
 * Returns the modules in `folder` that the package's exports and processes import or start as
 * threads. The program has its own copy of everything in `app`.
 */
export function neededModules(root: string, folder: string): ReadonlySet<string> {
  const needed = new Set<string>();
  const visit = (path: string): void => {
    if (needed.has(path)) return;
    needed.add(path);
    const text = readFileSync(join(folder, path), 'utf8');
    for (const [, to] of text.matchAll(MODULE)) visit(normalize(join(dirname(path), to!)));
  };
  for (const entryPoint of exportsOf(root)) visit(relative('dist', normalize(entryPoint)));
  PROCESSES.forEach(visit);
  return needed;
}

/** Excludes all other declarations and modules from the package. */
export function keepOutUnneeded(root: string, folder: string): void {
  const needed = new Set([...neededDeclarations(root, folder), ...neededModules(root, folder)]);
  const others = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.(?:js|d\.ts)$/.test(path) && !path.startsWith('app/') && !needed.has(path),
  );
  writeFileSync(join(folder, '.npmignore'), others.map((path) => `/${path}\n`).join(''));
}

function exportsOf(root: string): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  return Object.values(exports);
}
