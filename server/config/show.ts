/** The rows of `svc config show`. */
import type { OriginKind } from '../../stages/settings/setting.ts';
import { variablesOf } from './env.ts';
import type { LoadedConfig } from './load.ts';
import { redactedText, redactedValue } from './redact.ts';

/** One setting with its current value. Contains no secret. */
export interface SettingView {
  readonly key: string;
  /** With its JSON type, as in the file. Null if not set; secrets as in `text`. */
  readonly value: unknown;
  /** One line for people: secrets as `set (…1a2b)`; an unset value as its default in words. */
  readonly text: string;
  readonly source: OriginKind;
  /** File and line, variable or flag; empty for a default. */
  readonly where: string;
  /** Variables that can set it, strongest first. */
  readonly variables: readonly string[];
}

/** Returns every setting in table order; with `changedOnly`, those that are set. */
export function showConfig(
  loaded: Pick<LoadedConfig, 'provenance'>,
  { changedOnly = false }: { readonly changedOnly?: boolean } = {},
): readonly SettingView[] {
  return [...loaded.provenance]
    .filter(([, { source }]) => !changedOnly || source !== 'default')
    .map(([key, provenance]) => ({
      key,
      value: redactedValue(provenance),
      text: redactedText(provenance),
      source: provenance.source,
      where: provenance.where,
      variables: variablesOf(key),
    }));
}
