/** The rows of `svc config show`. */
import type { OriginKind } from '../../stages/settings/setting.ts';
import { variablesOf } from './env.ts';
import type { LoadedConfig } from './load.ts';
import { redacted } from './redact.ts';

/** One setting as it stands. Holds no secret. */
export interface SettingView {
  readonly key: string;
  /** Secrets as `set (…1a2b)`; an unset value as its default in words. */
  readonly value: string;
  readonly source: OriginKind;
  /** File and line, variable or flag; empty for a default. */
  readonly where: string;
  /** Variables that would set it, strongest first. */
  readonly variables: readonly string[];
}

/** Every setting in the order of the table; with `changedOnly`, those that somebody set. */
export function showConfig(
  loaded: Pick<LoadedConfig, 'provenance'>,
  { changedOnly = false }: { readonly changedOnly?: boolean } = {},
): readonly SettingView[] {
  return [...loaded.provenance]
    .filter(([, { source }]) => !changedOnly || source !== 'default')
    .map(([key, provenance]) => ({
      key,
      value: redacted(provenance),
      source: provenance.source,
      where: provenance.where,
      variables: variablesOf(key),
    }));
}
