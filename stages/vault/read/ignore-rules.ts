/**
 * Decides which paths below a folder belong to its vault. Every folder on the way down may have a
 * `.gitignore`; a deeper one takes precedence. The content of an ignored folder stays ignored, as
 * in git. The rules of folders above the root apply too, up to the top of the repository that
 * contains the root.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { isSecretDir } from '../risk/secret-names.ts';

/** Excluded whatever any `.gitignore` says, because they never contain the user's own text. */
const ALWAYS_EXCLUDED = new Set(
  (
    '.git .hg .svn .jj node_modules bower_components .venv venv __pycache__ .mypy_cache .tox ' +
    '.pytest_cache .ruff_cache .gradle .idea .vs .next .nuxt .turbo .parcel-cache .cache .svc ' +
    '.terraform .DS_Store'
  ).split(' '),
);

/** Why a path is not walked or read; undefined when it is. */
export type Excluded = 'ignored' | 'secret' | undefined;

/** The rules of one root. Rule files are read once and cached until `forget`. */
export type IgnoreRules = ReturnType<typeof createIgnoreRules>;

interface Level {
  readonly rules: Ignore;
  /** Converts a path relative to the root to one relative to the rule file's folder. */
  readonly local: (path: string) => string;
}

/**
 * Creates rules for the folder `root`; `skip` are further absolute paths to exclude, such as the
 * index itself.
 */
export function createIgnoreRules(root: string, skip: readonly string[] = []) {
  const skippedPaths = new Set(skip.map((path) => relative(root, path).split(sep).join('/')));
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
    if (ALWAYS_EXCLUDED.has(name) || skippedPaths.has(path)) return 'ignored';
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
    /**
     * Judges the file or folder at `path`, relative to the root, with `/`. Its parents are assumed
     * to be included.
     */
    judge,
    /** Judges a path including its parents. */
    judgeDeep(path: string, isDir: boolean): Excluded {
      const parts = path.split('/');
      for (let depth = 1; depth < parts.length; depth++) {
        const excluded = judge(parts.slice(0, depth).join('/'), true);
        if (excluded !== undefined) return excluded;
      }
      return judge(path, isDir);
    },
    /** Drops the cached rule files. */
    forget(): void {
      levels = new Map();
      above = undefined;
    },
  };
}

/** Returns true if ignored, false if re-included by a `!` rule, undefined when no rule matches. */
function test(level: Level | undefined, path: string, isDir: boolean): boolean | undefined {
  if (level === undefined) return undefined;
  const { ignored, unignored } = level.rules.test(level.local(path) + (isDir ? '/' : ''));
  return ignored ? true : unignored ? false : undefined;
}

/**
 * Returns the rule files above the root, nearest first, when the root is in a git repository,
 * followed by the repository's own `info/exclude`, which every `.gitignore` overrides. If the root
 * itself is ignored, its user named it deliberately: then none of them applies.
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

/**
 * Returns the git folder of the repository at `top`; in a worktree, `.git` is a file with its path.
 */
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
  // As git does on case-sensitive file systems; those of macOS are not.
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
