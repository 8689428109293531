/** Which changes a reload applies, and which need a restart. */
import { sameValue } from './layer.ts';
import type { LoadedConfig } from './load.ts';

/** The concrete keys whose values differ between two configurations. */
export interface ConfigChange {
  /** Applied to the next request. */
  readonly applied: readonly string[];
  /** Applied at the next start only. */
  readonly needsRestart: readonly string[];
}

/** Compares the running configuration with a newly loaded one. */
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
    // An added or removed provider is compared with the defaults.
    const same = sameValue(before?.value ?? setting.default, after?.value ?? setting.default);
    if (!same) (setting.needsRestart === true ? needsRestart : applied).push(concrete);
  }
  return { applied, needsRestart };
}
