/** What a reload changes, and what it cannot change in a running proxy. */
import { sameValue } from './layer.ts';
import type { LoadedConfig } from './load.ts';

/** The concrete keys whose values differ between two configurations. */
export interface ConfigChange {
  /** Taken up by the next request. */
  readonly applied: readonly string[];
  /** Taken up by the next start only. */
  readonly needsRestart: readonly string[];
}

/** Compares the configuration that runs with a newly loaded one. */
export function compareConfigs(
  running: Pick<LoadedConfig, 'provenance'>,
  next: Pick<LoadedConfig, 'provenance'>,
): ConfigChange {
  const applied: string[] = [];
  const needsRestart: string[] = [];
  for (const concrete of new Set([...running.provenance.keys(), ...next.provenance.keys()])) {
    const before = running.provenance.get(concrete);
    const after = next.provenance.get(concrete);
    const { setting } = (after ?? before)!;
    // A provider that came or went differs from nothing by its defaults.
    const same = sameValue(before?.value ?? setting.default, after?.value ?? setting.default);
    if (!same) (setting.needsRestart === true ? needsRestart : applied).push(concrete);
  }
  return { applied, needsRestart };
}
