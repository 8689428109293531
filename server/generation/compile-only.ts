/**
 * Compiles the generation that a start with a configuration would make, without listening: loads
 * plugins and code providers, and compiles the graph.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../engine/index.ts';
import { noLedgerWriter } from '../../stages/ledger/writer/no-writer.ts';
import { createKeyring } from '../auth/auth.ts';
import { makeGeneration } from './compile.ts';
import type { Config } from '../config/config.ts';
import type { Variables } from '../config/env.ts';
import type { Generation } from './generation.ts';
import { silentLog } from '../log/silent.ts';
import { loadCustomProviders, pluginReasons } from './plugins.ts';
import { createServices } from '../services.ts';
import type { ServerServices } from '../services.ts';

export interface CompileOnlyOptions {
  readonly config: Config;
  readonly services: ServerServices;
  /** Variables with the keys of code providers. */
  readonly env: Variables;
  /** Folder for any files that would be written. */
  readonly scratch: string;
  /** As in `GenerationOptions`. */
  readonly macroHome?: string;
}

/** Compiles the generation without activating it. Throws `config` as a start would. */
export async function compileOnly(options: CompileOnlyOptions): Promise<Generation> {
  const { config, services, env, scratch, macroHome } = options;
  const { clock } = services;
  return makeGeneration({
    number: 1,
    config,
    services,
    env,
    ...(macroHome !== undefined && { macroHome }),
    keys: createKeyring({ file: join(scratch, 'keys.json'), clock }),
    ports: () => [],
    custom: await loadCustomProviders(config, env),
  });
}

/**
 * Returns the graph of a configuration, or of a request that names `macro`. Reads only the macros
 * of its home and writes nothing: an empty folder replaces the home.
 */
export async function compiledGraph(config: Config, env: Variables, macro?: string) {
  const scratch = mkdtempSync(join(tmpdir(), 'svc-graph-'));
  try {
    return await compiledIn(scratch, config, env, macro);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function compiledIn(scratch: string, given: Config, env: Variables, macro?: string) {
  const config: Config = {
    ...given,
    home: scratch,
    ledger: { db: join(scratch, 'monitor.db') },
    cache: { ...given.cache, type: 'memory' },
    vault: { ...given.vault, indexPath: join(scratch, 'vault') },
    telemetry: { ...given.telemetry, enabled: false },
  };
  const log = silentLog(scratch, systemClock);
  const services = await createServices({ config, log, ledgerWriter: noLedgerWriter });
  try {
    const macroHome = given.home;
    const made = await compileOnly({ config, services, env, scratch, macroHome });
    const { plugins, custom } = made;
    const plan = macro === undefined ? made.plan : made.withMacro(macro);
    // The warnings name unusable code providers: the proxy starts without them.
    return { plan, plugins, custom, warnings: pluginReasons(custom) };
  } finally {
    await services.close();
  }
}
