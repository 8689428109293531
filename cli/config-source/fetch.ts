/** Gets a config file from a file or a git repository, without running anything that lies there. */
import { execFile } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SvcError } from '../../engine/error.ts';
import { readSettingsFile, textOf } from '../integrate/settings-file.ts';

const FETCH_MS = 60_000;
const NAMES = ['config.yaml', 'proxy.yaml'];

/** Where a config file comes from. */
export interface RemoteConfig {
  /** A path, or whatever git takes. Absolute where it is a path. */
  readonly location: string;
  /** The file within a repository. */
  readonly path: string | null;
  /** Branch or tag of a repository. */
  readonly ref: string | null;
}

export interface Fetched {
  readonly text: string;
  /** The commit it is of; null for a file. */
  readonly commit: string | null;
}

type Env = Readonly<Record<string, string | undefined>>;

/** A typed location as it is kept: paths absolute, so that it means the same from every folder. */
export function absoluteLocation(typed: string, cwd: string, userHome: string): string {
  if (typed.startsWith('-'))
    throw new SvcError('usage', `'${typed}' is not a location of a config file`);
  if (typed.startsWith('file://') && !typed.endsWith('.git')) return fileURLToPath(typed);
  if (typed.startsWith('~/')) return join(userHome, typed.slice(2));
  // `https://…`, `ssh://…` and `git@host:path` are git's.
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(typed) || /^[^/]+@[^/]+:/.test(typed)) return typed;
  return resolve(cwd, typed);
}

/** `text` without the name and password that an address in it may hold. */
export function locationText(text: string): string {
  return text.replaceAll(/(https?:\/\/)[^/@\s]*@/gi, '$1');
}

/** @throws SvcError `not_found` where nothing is there, `bad_gateway` where git cannot get it. */
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
    // A link could name any file of this machine.
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

/** No hooks, no helpers that a location could name, no questions. */
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
        new SvcError('bad_gateway', `git cannot get it: ${last}`, {
          cause: error,
          cure: 'Nothing was changed. `git ls-remote` on the same location shows whether git can reach it.',
        }),
      );
    });
  });
}
