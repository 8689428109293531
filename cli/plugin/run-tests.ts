/** Runs an author's tests with Node's own runner; `svc/…` resolves although it is not installed. */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SvcError } from '../../engine/error.ts';
import type { CliContext } from '../context.ts';
import { runChild } from '../session/child.ts';

const TEST = /\.test\.m?js$/;

/** Returns the tests of a plugin: those in a folder, those next to a module, or the file itself. */
export function testFiles(path: string): readonly string[] {
  const found = filesOf(path);
  if (found.length > 0) return found;
  throw new SvcError('not_found', `There is no test for ${path}`, {
    cure: 'Tests end in .test.mjs and are next to the module; `svc plugin new` makes one.',
  });
}

function filesOf(path: string): readonly string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new SvcError('not_found', `There is no file ${path}`);
  if (stats.isDirectory())
    return readdirSync(path)
      .filter((name) => TEST.test(name))
      .toSorted()
      .map((name) => join(path, name));
  if (TEST.test(path)) return [path];
  const stem = basename(path).replace(/\.[^.]+$/, '');
  return filesOf(dirname(resolve(path))).filter((file) => basename(file).startsWith(`${stem}.`));
}

/** Resolves with the runner's exit code. */
export function runTests(files: readonly string[], context: CliContext): Promise<number> {
  const command = [process.execPath, '--import', resolver(context.entry), '--test', ...files];
  return runChild(command, context.env, context);
}

/** Returns a module that resolves `svc/…` to this package, wherever the importing file is. */
function resolver(entry: string): string {
  const parent = JSON.stringify(pathToFileURL(entry).href);
  const hook = `export const resolve = (name, context, next) =>
    name === 'svc' || name.startsWith('svc/') ? next(name, { ...context, parentURL: ${parent} }) : next(name, context);`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(asUrl(hook))});`;
  return asUrl(register);
}

function asUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
