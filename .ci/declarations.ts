/**
 * Finds the type declarations that the package needs: those reachable from its exports. The others
 * only help developers of svc itself, and made the package 7 % larger.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const IMPORT = /(?:from\s*|import\()["'](\.{1,2}\/[^"']+)\.(?:ts|js)["']/g;

/**
 * Returns the declarations in `folder`, a build of `root`'s sources, that the package's exports
 * reach.
 */
export function neededDeclarations(root: string, folder: string): ReadonlySet<string> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const needed = new Set<string>();
  const visit = (path: string): void => {
    if (needed.has(path) || !existsSync(join(folder, path))) return;
    needed.add(path);
    const text = readFileSync(join(folder, path), 'utf8');
    for (const [, to] of text.matchAll(IMPORT))
      visit(normalize(join(dirname(path), `${to!}.d.ts`)));
  };
  for (const entryPoint of Object.values(exports))
    visit(relative('dist', normalize(entryPoint)).replace(/\.js$/, '.d.ts'));
  return needed;
}

/** Excludes all other declarations from the package. */
export function keepOutDeclarations(root: string, folder: string): void {
  const needed = neededDeclarations(root, folder);
  const others = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.d.ts') && !needed.has(path),
  );
  writeFileSync(join(folder, '.npmignore'), others.map((path) => `/${path}\n`).join(''));
}
