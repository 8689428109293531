/**
 * Imports a module that the configuration names. Its owner is checked before any of it runs, and it
 * is imported under the hash of its content, so that a reload picks up changes. Old versions of a
 * changed module stay in memory.
 */
import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A module as configured: an absolute path, and its name. */
export interface ConfiguredModule {
  readonly module: string;
  readonly name: string;
}

/** A module as it is about to be imported. */
export interface PluginModule extends ConfiguredModule {
  /** The hash of its content. */
  readonly version: string;
  /** The import specifier: the file, with its version in the query. */
  readonly url: string;
}

/** Runs the import of a module. */
export type RunImport = <T>(module: PluginModule, work: () => T) => T;

/** Time limit for loading a module: top-level code may wait forever. */
const IMPORT_MS = 5000;

/**
 * Returns the default export of a module, or undefined if it has none. Throws the fault as a
 * sentence.
 */
export async function importDefault(
  { module, name }: ConfiguredModule,
  runImport: RunImport,
): Promise<{ readonly exported: unknown; readonly version: string; readonly url: string }> {
  const path = await realpath(module).catch(() => {
    throw new Error('it does not exist');
  });
  refuseOtherLanguage(path);
  await refuseWritableByOthers(path);
  const version = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
    .slice(0, 16);
  const url = `${pathToFileURL(path).href}?v=${version}`;
  const exported: unknown = await loadInTime(
    runImport({ module, name, version, url }, () => import(url)),
  );
  const isModule = typeof exported === 'object' && exported !== null && 'default' in exported;
  return { exported: isModule ? exported.default : undefined, version, url };
}

function refuseOtherLanguage(path: string): void {
  const extension = extname(path);
  if (extension === '.js' || extension === '.mjs') return;
  const isTypeScript = extension === '.ts' || extension === '.mts';
  if (isTypeScript && 'typescript' in process.features && process.features.typescript !== false)
    return;
  throw new Error(
    isTypeScript
      ? 'this version of Node runs no TypeScript; compile it, or use Node 22.18 or newer'
      : 'a module ends in .js or .mjs',
  );
}

/** Throws if another user could change the code that would run as this user. */
async function refuseWritableByOthers(path: string): Promise<void> {
  const uid = process.getuid?.();
  for (const location of [path, dirname(path)]) {
    const { mode, uid: owner } = await stat(location);
    const description = location === path ? 'the file' : 'its folder';
    if (uid !== undefined && owner !== uid && owner !== 0)
      throw new Error(`${description} belongs to another user`);
    // In a sticky folder, users cannot replace each other's files.
    const isSticky = location !== path && (mode & 0o1000) !== 0;
    if ((mode & 0o022) !== 0 && !isSticky)
      throw new Error(`${description} can be written by other users; run: chmod go-w ${location}`);
  }
}

/** Settles as `loading` does, or rejects after a while. The timer keeps the process alive. */
export async function loadInTime<T>(loading: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('it did not finish loading')), IMPORT_MS);
  });
  try {
    return await Promise.race([loading, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
