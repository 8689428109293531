/** Queries npm, which knows the user's registry, proxy and certificates. */
import { execFile } from 'node:child_process';
import { SvcError } from '../../engine/error.ts';
import { isObject, parseJson } from '../../stages/dialect/json-kind.ts';

const ANSWER_MS = 30_000;
const INSTALL_MS = 600_000;
const MAX_BYTES = 4 * 1024 * 1024;

type Env = Readonly<Record<string, string | undefined>>;

/** A package in the registry. */
export interface Published {
  readonly version: string;
  /** Programs of the package, by name. */
  readonly bin: Readonly<Record<string, string>>;
}

const VERSION = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][\w.+-]{1,64})?$/;

/**
 * Returns the newest published version of `name`; undefined if the registry has no such package.
 *
 * @throws SvcError `bad_gateway` if the registry does not respond, `not_found` without npm.
 */
export async function published(name: string, env: Env): Promise<Published | undefined> {
  const argv = ['view', `${name}@latest`, 'name', 'version', 'bin', '--json'];
  const quick = ['--fetch-retries=0', '--fetch-timeout=15000', '--loglevel=silent'];
  const { code, stdout } = await npm([...argv, ...quick], env, ANSWER_MS);
  const answer = parseJson(stdout);
  const shown = isObject(answer) ? answer : {};
  if (code !== 0) {
    const reason = isObject(shown['error']) ? shown['error']['code'] : undefined;
    if (reason === 'E404') return undefined;
    throw new SvcError(
      'bad_gateway',
      `The package registry does not answer${typeof reason === 'string' ? ` (${reason})` : ''}`,
      { cure: 'Check the network; `npm config get registry` shows which registry npm uses.' },
    );
  }
  const { version, bin } = shown;
  if (typeof version !== 'string' || !VERSION.test(version)) return undefined;
  return {
    version,
    bin: isObject(bin)
      ? Object.fromEntries(
          Object.entries(bin).flatMap(([key, path]) =>
            typeof path === 'string' ? [[key, path] as const] : [],
          ),
        )
      : {},
  };
}

/** Returns the folder of npm's global packages; undefined if npm does not report it. */
export async function globalPackagesFolder(env: Env): Promise<string | undefined> {
  const { code, stdout } = await npm(['root', '-g'], env, ANSWER_MS);
  return code === 0 && stdout.trim() !== '' ? stdout.trim() : undefined;
}

/**
 * Installs a version globally.
 *
 * @throws SvcError `config` with npm's last words.
 */
export async function installGlobally(name: string, version: string, env: Env): Promise<void> {
  const argv = ['install', '-g', '--no-fund', '--no-audit', `${name}@${version}`];
  const { code, stderr } = await npm(argv, env, INSTALL_MS);
  if (code === 0) return;
  const last = stderr.trim().split('\n').slice(-6).join('\n  ');
  throw new SvcError('config', `npm could not install ${name}@${version}:\n  ${last}`, {
    cure: `The installed version stays. By hand: npm ${argv.join(' ')}`,
  });
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function npm(argv: readonly string[], env: Env, timeoutMs: number): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const options = { env: { ...env }, timeout: timeoutMs, maxBuffer: MAX_BYTES };
    execFile('npm', argv, options, (error, stdout, stderr) => {
      if (error?.code === 'ENOENT')
        reject(
          new SvcError('not_found', 'npm is not on the path', {
            cause: error,
            cure: 'Update svc with the tool that installed it.',
          }),
        );
      else if (error === null) resolve({ code: 0, stdout, stderr });
      else resolve({ code: typeof error.code === 'number' ? error.code : -1, stdout, stderr });
    });
  });
}
