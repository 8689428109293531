/**
 * How the user invokes svc, for commands in messages. In a checkout and after `npx`, `svc` is
 * usually not on the path.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isObject, parseJson } from '../stages/dialect/json-kind.ts';

/** Needs no quotes in a shell. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** True for `npm start` and `npm run svc`. */
export function isRunByNpm({ npm_lifecycle_event: script }: NodeJS.ProcessEnv): boolean {
  return script === 'start' || script === 'svc';
}

/** Returns `svc`, `npm run svc --` or `npx PACKAGE`; `packageFolder` contains our `package.json`. */
export function invokedAs(env: NodeJS.ProcessEnv, packageFolder: string): string {
  if (isRunByNpm(env)) return 'npm run svc --';
  const spec = npxPackage(packageFolder);
  return spec === undefined ? 'svc' : `npx ${spec}`;
}

/** Returns what npx was given to install; undefined if it did not install this package. */
function npxPackage(packageFolder: string): string | undefined {
  const project = dirname(dirname(packageFolder));
  if (basename(dirname(project)) !== '_npx') return undefined;
  try {
    const written = parseJson(readFileSync(join(project, 'package.json'), 'utf8'));
    const npx = isObject(written) ? written['_npx'] : undefined;
    const packages = isObject(npx) ? npx['packages'] : undefined;
    if (!Array.isArray(packages) || packages.length !== 1) return undefined;
    const [spec] = packages;
    return typeof spec === 'string' && PLAIN.test(spec) ? spec : undefined;
  } catch {
    // Only wording depends on it.
    return undefined;
  }
}
