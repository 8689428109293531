/**
 * Which paths below a folder belong to its vault. Every folder on the way down may carry a
 * `.gitignore`; a deeper one outranks those above it. What lies in an ignored folder stays
 * ignored, as in git. The rules of folders above the root count too, up to the top of the
 * repository that the root is part of.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { isSecretDir } from '../risk/secret-names.ts';

/** Left out whatever any `.gitignore` says: they are never somebody's own words. */
const NEVER = new Set(
  (
    '.git .hg .svn .jj node_modules bower_components .venv venv __pycache__ .mypy_cache .tox ' +
    '.pytest_cache .ruff_cache .gradle .idea .vs .next .nuxt .turbo .parcel-cache .cache .svc ' +
    '.terraform .DS_Store'
  ).split(' '),
);

/** Why a path is not walked into or read; undefined when it is. */
export type Excluded = 'ignored' | 'secret' | undefined;

/** The rules of one root. Rule files are read once and kept until `forget`. */
export type IgnoreRules = ReturnType<typeof createIgnoreRules>;

interface Level {
  readonly rules: Ignore;
  /** Turns a path relative to the root into one relative to the rule file's folder. */
  readonly local: (path: string) => string;
}

/** Rules for the folder `root`; `skip` are absolute paths that are left out besides, such as the index itself. */
export function createIgnoreRules(root: string, skip: readonly string[] = []) {
  const left = new Set(skip.map((path) => relative(root, path).split(sep).join('/')));
  let levels = new Map<string, Level | undefined>();
  let above: Level[] | undefined;
  const levelOf = (dir: string): Level | undefined => {
    if (levels.has(dir)) return levels.get(dir);
    const rules = readRules(join(root, dir, '.gitignore'));
    const level =
      rules === undefined
        ? undefined
        : { rules, local: (path: string) => (dir === '' ? path : path.slice(dir.length + 1)) };
    levels.set(dir, level);
    return level;
  };
  const judge = (path: string, isDir: boolean): Excluded => {
    const name = basename(path);
    if (NEVER.has(name) || left.has(path)) return 'ignored';
    if (isDir && isSecretDir(name)) return 'secret';
    above ??= levelsAbove(root);
    for (let dir = parent(path); ; dir = parent(dir)) {
      const verdict = test(levelOf(dir), path, isDir);
      if (verdict !== undefined) return verdict ? 'ignored' : undefined;
      if (dir === '') break;
    }
    for (const level of above) {
      const verdict = test(level, path, isDir);
      if (verdict !== undefined) return verdict ? 'ignored' : undefined;
    }
    return undefined;
  };
  return {
    /** Judges the file or folder at `path`, relative to the root, with `/`. Its parents are taken to be fine. */
    judge,
    /** The same, its parents included. */
    judgeDeep(path: string, isDir: boolean): Excluded {
      const parts = path.split('/');
      for (let depth = 1; depth < parts.length; depth++) {
        const excluded = judge(parts.slice(0, depth).join('/'), true);
        if (excluded !== undefined) return excluded;
      }
      return judge(path, isDir);
    },
    /** Reads all rule files anew from now on. */
    forget(): void {
      levels = new Map();
      above = undefined;
    },
  };
}

/** True for ignored, false for taken back by a `!` rule, undefined when no rule speaks of it. */
function test(level: Level | undefined, path: string, isDir: boolean): boolean | undefined {
  if (level === undefined) return undefined;
  const { ignored, unignored } = level.rules.test(level.local(path) + (isDir ? '/' : ''));
  return ignored ? true : unignored ? false : undefined;
}

/**
 * The rule files above the root, nearest first, when the root lies in a git repository, and
 * behind them the repository's own `info/exclude`, which every `.gitignore` outranks. A
 * root that is itself ignored was named by its user, who wants it: then none of them counts.
 */
function levelsAbove(root: string): Level[] {
  const found: Level[] = [];
  let dir = root;
  const add = (rules: Ignore | undefined): boolean => {
    const prefix = relative(dir, root).split(sep).join('/');
    if (rules === undefined) return true;
    if (prefix !== '' && rules.ignores(`${prefix}/`)) return false;
    found.push({ rules, local: (path) => (prefix === '' ? path : `${prefix}/${path}`) });
    return true;
  };
  while (!existsSync(join(dir, '.git'))) {
    const up = dirname(dir);
    if (up === dir) return [];
    dir = up;
    if (!add(readRules(join(dir, '.gitignore')))) return [];
  }
  return add(readRules(join(gitFolder(dir), 'info', 'exclude'))) ? found : [];
}

/** Where the repository at `top` keeps what its worktrees share: their `.git` is a file with its path. */
function gitFolder(top: string): string {
  const git = join(top, '.git');
  const named = readText(git)?.match(/^gitdir: (.+)$/m)?.[1];
  if (named === undefined) return git;
  const own = resolve(top, named);
  return resolve(own, readText(join(own, 'commondir'))?.trim() ?? '.');
}

function readRules(file: string): Ignore | undefined {
  const text = readText(file);
  if (text === undefined) return undefined;
  // As git does where file names tell capitals apart; on macOS they do not.
  return ignore({ ignorecase: process.platform === 'darwin' }).add(text);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function parent(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? '' : path.slice(0, slash);
}
