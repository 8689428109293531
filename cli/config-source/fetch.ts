/** Fetches a config file from a file or a git repository, without running anything from there. */
import { execFile } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SvcError } from '../../engine/error.ts';
import { readSettingsFile, textOf } from '../integrate/settings-file.ts';

const FETCH_MS = 60_000;
const NAMES = ['config.yaml', 'proxy.yaml'];

/** Source of a config file. */
export interface RemoteConfig {
  /** A path, or any location that git accepts. A path is absolute. */
  readonly location: string;
  /** The file within a repository. */
  readonly path: string | null;
  /** Branch or tag of a repository. */
  readonly ref: string | null;
}

export interface Fetched {
  readonly text: string;
  /** Commit of the file; null if it is not from a repository. */
  readonly commit: string | null;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Converts a typed location for storage: paths become absolute, so that they mean the same in every
 * folder.
 */
export function absoluteLocation(typed: string, cwd: string, userHome: string): string {
  if (typed.startsWith('-'))
    throw new SvcError('usage', `'${typed}' is not a location of a config file`);
  if (typed.startsWith('file://') && !typed.endsWith('.git')) return fileURLToPath(typed);
  if (typed.startsWith('~/')) return join(userHome, typed.slice(2));
  // `https://…`, `ssh://…` and `git@host:path` are left to git.
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(typed) || /^[^/]+@[^/]+:/.test(typed)) return typed;
  return resolve(cwd, typed);
}

/** Returns `text` without user names and passwords in URLs. */
export function locationText(text: string): string {
  return text.replaceAll(/(https?:\/\/)[^/@\s]*@/gi, '$1');
}

/**
 * Fetches the file.
 *
 * @throws SvcError `not_found` if there is nothing, `bad_gateway` if git fails.
 */
export async function fetchConfig(remote: RemoteConfig, env: Env): Promise<Fetched> {
  const stat = remote.location.startsWith('/')
    ? statSync(remote.location, { throwIfNoEntry: false })
    : undefined;
  if (stat?.isFile() === true)
    return { text: textOf(readSettingsFile(remote.location)), commit: null };
  if (remote.location.startsWith('/') && stat === undefined)
    throw new SvcError('not_found', `${remote.location} does not exist`);
  return fetchByGit(remote, env);
}

async function fetchByGit({ location, path, ref }: RemoteConfig, env: Env): Promise<Fetched> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-config-'));
  try {
    const branch = ref === null ? [] : ['--branch', ref];
    const where = join(folder, 'repository');
    await git(['clone', '--quiet', '--depth', '1', ...branch, '--', location, where], env);
    const commit = (await git(['-C', where, 'rev-parse', 'HEAD'], env)).trim();
    const names = path === null ? NAMES : [path];
    const found = names.find(
      (name) => statSync(join(where, name), { throwIfNoEntry: false })?.isFile() === true,
    );
    if (found === undefined)
      throw new SvcError(
        'not_found',
        `${locationText(location)} has no file ${names.join(' or ')}`,
        {
          cure: '--path names another one.',
        },
      );
    // A link could point to any file of this machine.
    const real = realpathSync(join(where, found));
    if (!real.startsWith(realpathSync(where) + sep))
      throw new SvcError(
        'forbidden',
        `${found} of ${locationText(location)} leads out of the repository`,
      );
    return { text: textOf(readSettingsFile(real)), commit };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs git without hooks, remote helpers and prompts. */
function git(argv: readonly string[], env: Env): Promise<string> {
  const safe = ['-c', 'core.hooksPath=/dev/null', '-c', 'protocol.ext.allow=never'];
  const options = {
    env: { ...env, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
    timeout: FETCH_MS,
  };
  return new Promise((done, reject) => {
    execFile('git', [...safe, ...argv], options, (error, stdout, stderr) => {
      if (error === null) return done(stdout);
      if (error.code === 'ENOENT')
        return reject(new SvcError('not_found', 'git is not on the path', { cause: error }));
      const last = locationText(stderr.trim().split('\n').at(-1) ?? '');
      reject(
        new SvcError('bad_gateway', `git cannot fetch it: ${last}`, {
          cause: error,
          cure: 'Nothing was changed. `git ls-remote` on the same location shows whether git can reach it.',
        }),
      );
    });
  });
}
