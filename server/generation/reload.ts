/**
 * Reads the configuration again and swaps the generation. A faulty configuration changes nothing;
 * settings that need a restart are listed.
 */
import { toSvcError } from '../../engine/index.ts';
import type { AuditLog } from '../../stages/audit/log.ts';
import { auditRefusal, auditReload } from '../log/audit-trail.ts';
import { compareConfigs } from '../config/reload.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Generation, Generations } from './generation.ts';
import type { Log } from '../log/log.ts';
import { changedCode, pluginReasons } from './plugins.ts';
import { fallbackWarnings, ownKeyWarnings } from './providers.ts';
import type { ReloadReport } from '../routes/config.ts';

export interface ReloadOptions {
  readonly first: LoadedConfig;
  readonly load: () => Promise<LoadedConfig>;
  readonly compile: (loaded: LoadedConfig, number: number) => Promise<Generation>;
  readonly generations: Generations;
  readonly log: Log;
  readonly audit: AuditLog;
  /** Called when a new generation is in force. */
  readonly activated: (generation: Generation) => void;
}

function messageOf(loaded: LoadedConfig, needsRestart: readonly string[]): string {
  const { compression, streaming } = loaded.config;
  const active = `mode=${compression.mode} compact=${compression.enabled ? 1 : 0} streaming=${streaming.enabled ? 1 : 0}`;
  if (needsRestart.length === 0) return `Configuration reloaded: ${active}`;
  return `Configuration reloaded: ${active}; after a restart: ${needsRestart.join(', ')}`;
}

/**
 * Returns the settings whose files have changed, except those whose own value changed and that are
 * listed already.
 */
function changedFiles(before: Generation, now: Generation, named: readonly string[]): string[] {
  const changed = [
    ...(before.recipes?.id === now.recipes?.id ? [] : ['compression.recipes']),
    ...(before.macros.join() === now.macros.join() ? [] : ['macros']),
  ];
  return changed.filter((setting) => !named.includes(setting));
}

/** Creates the reload function; calls run one after another. */
export function createReload(options: ReloadOptions): () => Promise<ReloadReport> {
  const { generations, log, audit } = options;
  let running = options.first;
  let number = 1;
  let last: Promise<unknown> = Promise.resolve();

  async function reload(): Promise<ReloadReport> {
    const next = await options.load();
    const { applied: keys, needsRestart: changedForRestart } = compareConfigs(running, next);
    // An earlier reload may have left settings waiting, and this one may revert them.
    const { needsRestart } = compareConfigs(options.first, next);
    number += 1;
    const generation = await options.compile(next, number);
    const modules = changedCode(generations.current.custom, generation.custom);
    const before = new Map(
      generations.current.plugins.map((plugin) => [plugin.module, plugin.version]),
    );
    const plugins = generation.plugins.filter(
      (plugin) => before.get(plugin.module) !== plugin.version,
    );
    const applied = [
      ...keys,
      ...modules.map((name) => `custom_providers.${name}`),
      ...plugins.map(({ name }) => `plugins.${name}`),
      ...changedFiles(generations.current, generation, keys),
    ];
    // Checked before activation, which may turn the audit log off.
    const wasAudited = audit.isEnabled;
    const changes = { applied: keys, needsRestart: changedForRestart, modules, plugins };
    const note = () => auditReload(audit, changes, generation);
    if (wasAudited) note();
    generations.swap(generation);
    if (!wasAudited) note();
    options.activated(generation);
    running = next;
    log.info('configuration reloaded', { applied, needsRestart });
    const warnings = [
      ...next.warnings,
      ...fallbackWarnings(next.config, generation.providers),
      ...ownKeyWarnings(next.config, generation.providers),
    ];
    for (const warning of warnings) log.warning(warning);
    const faults = pluginReasons(generation.custom);
    for (const fault of faults) log.error(fault);
    return {
      message: messageOf(next, needsRestart),
      applied,
      needsRestart,
      configFile: next.configFile ?? null,
      warnings: [...warnings, ...faults],
    };
  }

  function refuse(thrown: unknown): never {
    const error = toSvcError(thrown);
    auditRefusal(audit, error);
    log.error('configuration not reloaded', { reason: error.message, cause: error.cause });
    throw error;
  }

  return () => {
    const result = last.then(reload, reload).catch(refuse);
    last = result.catch(() => undefined);
    return result;
  };
}
