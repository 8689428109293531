/**
 * Loads the modules that the configuration names, and nothing else. Each is checked to be the
 * user's own before any of it runs, and imported under the hash of its content, so that a
 * reload takes up what was changed. What is wrong with one stops only that one.
 */
import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkDefinition } from './check.ts';
import type { ProviderDefinition } from './index.ts';

/** A module as configured: an absolute path, and the name that its provider gets. */
export interface PluginSource {
  readonly module: string;
  readonly name: string;
}

/** Why a module gives no provider; `message` has one sentence a fault and names the file. */
export interface PluginFault {
  readonly name: string;
  readonly module: string;
  readonly message: string;
}

export interface LoadedPlugins {
  /** By the configured name, in the order of the configuration. */
  readonly definitions: ReadonlyMap<string, ProviderDefinition>;
  /** The hash of each module's content, by the same names. */
  readonly versions: ReadonlyMap<string, string>;
  readonly faults: readonly PluginFault[];
}

/** A module as it is about to be imported. */
export interface PluginModule extends PluginSource {
  /** The hash of its content. */
  readonly version: string;
  /** What is imported: the file, with its version in the query. */
  readonly url: string;
}

/** Runs the import of a module. */
export type RunImport = <T>(module: PluginModule, work: () => T) => T;

/** A module that has not finished by then waits for something that does not come. */
const IMPORT_MS = 5000;

/** Loads every source. Never rejects. Old versions of a changed module stay in memory. */
export async function loadProviders(
  sources: readonly PluginSource[],
  runImport: RunImport = (_module, work) => work(),
): Promise<LoadedPlugins> {
  const definitions = new Map<string, ProviderDefinition>();
  const versions = new Map<string, string>();
  const faults: PluginFault[] = [];
  for (const source of sources) {
    const { module, name } = source;
    try {
      const { definition, version } = await load(source, runImport);
      definitions.set(name, definition);
      versions.set(name, version);
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      faults.push({ name, module, message: `${module}: ${why}` });
    }
  }
  return { definitions, versions, faults };
}

async function load(
  { module, name }: PluginSource,
  runImport: RunImport,
): Promise<{ definition: ProviderDefinition; version: string }> {
  const path = await realpath(module).catch(() => {
    throw new Error('it does not exist');
  });
  refuseLanguage(path);
  await refuseForeign(path);
  const version = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
    .slice(0, 16);
  const url = `${pathToFileURL(path).href}?v=${version}`;
  const exported: unknown = await inTime(
    runImport({ module, name, version, url }, () => import(url)),
  );
  const isModule = typeof exported === 'object' && exported !== null && 'default' in exported;
  const checked = checkDefinition(isModule ? exported.default : undefined);
  if (!checked.ok) throw new Error(checked.faults.join('; '));
  return { definition: checked.definition, version };
}

function refuseLanguage(path: string): void {
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

/** Throws where somebody else could change what would run as the user. */
async function refuseForeign(path: string): Promise<void> {
  const uid = process.getuid?.();
  for (const each of [path, dirname(path)]) {
    const { mode, uid: owner } = await stat(each);
    const what = each === path ? 'the file' : 'its folder';
    if (uid !== undefined && owner !== uid && owner !== 0)
      throw new Error(`${what} belongs to another user`);
    // In a sticky folder others cannot replace files that are not theirs.
    const isSticky = each !== path && (mode & 0o1000) !== 0;
    if ((mode & 0o022) !== 0 && !isSticky)
      throw new Error(`${what} may be written by others; \`chmod go-w ${each}\` ends that`);
  }
}

async function inTime(importing: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('it did not finish loading')), IMPORT_MS);
  });
  try {
    return await Promise.race([importing, late]);
  } finally {
    clearTimeout(timer);
  }
}
