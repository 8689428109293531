/** How this svc was installed, and version comparison. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';

export interface Installed {
  readonly name: string;
  readonly version: string;
  /** Programs of the package, by name, to distinguish it from another package of that name. */
  readonly bin: Readonly<Record<string, string>>;
  /** Folder of the package. */
  readonly root: string;
  readonly kind: 'checkout' | 'package';
}

/** Reads the package metadata of `entry` (`<root>/dist/app/main.js`). */
export function readInstalled(entry: string): Installed {
  const root = resolve(dirname(realpathSync(entry)), '../..');
  try {
    const { name, version, bin } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    ) as Pick<Installed, 'name' | 'version' | 'bin'>;
    const kind = existsSync(join(root, '.git')) ? 'checkout' : 'package';
    return { name, version, bin, root, kind };
  } catch (cause) {
    throw new SvcError('config', `${root} is not an npm package`, {
      cause,
      cure: 'Update svc with the tool that installed it.',
    });
  }
}

/** True if npm installed `root` into its `folder` of global packages. */
export function isIn(folder: string, { name, root }: Installed): boolean {
  try {
    return realpathSync(join(folder, name)) === root;
  } catch {
    return false;
  }
}

/** True if `version` comes after `other`, by numbers; a release comes after its own prereleases. */
export function isNewer(version: string, other: string): boolean {
  const [one, two] = [version, other].map(partsOf) as [Parts, Parts];
  for (let at = 0; at < 3; at += 1) {
    const difference = (one.numbers[at] ?? 0) - (two.numbers[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  if (one.prerelease === '' || two.prerelease === '')
    return one.prerelease === '' && two.prerelease !== '';
  return one.prerelease.localeCompare(two.prerelease, 'en', { numeric: true }) > 0;
}

interface Parts {
  readonly numbers: readonly number[];
  readonly prerelease: string;
}

function partsOf(version: string): Parts {
  const [core = '', ...rest] = version.replace(/\+.*$/, '').split('-');
  return { numbers: core.split('.').map(Number), prerelease: rest.join('-') };
}
