/** The rows of `svc config show`. */
import type { OriginKind } from '../../stages/settings/setting.ts';
import { variablesOf } from './env.ts';
import type { LoadedConfig } from './load.ts';
import { redacted, redactedValue } from './redact.ts';

/** One setting as it stands. Holds no secret. */
export interface SettingView {
  readonly key: string;
  /** As in the file: numbers, switches and lists are none of text. Null where it is not set; secrets as in `text`. */
  readonly value: unknown;
  /** In a line for people: secrets as `set (…1a2b)`; an unset value as its default in words. */
  readonly text: string;
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
      value: redactedValue(provenance),
      text: redacted(provenance),
      source: provenance.source,
      where: provenance.where,
      variables: variablesOf(key),
    }));
}
