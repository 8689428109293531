/**
 * What one setting is: the row from which types, checks, `config show`, documentation and hints are
 * made.
 */
import type { Kind } from './kind.ts';

/** The source of a value, weakest first. */
export type OriginKind = 'default' | 'file' | 'env-file' | 'environment' | 'flag';

/** The source, and in words the file and line, the variable or the flag. */
export interface Origin {
  readonly source: OriginKind;
  /** `proxy.yaml:12`, `SVC_PORT`, `.env:3 (SVC_PORT)`, `--port`; empty for a default. */
  readonly where: string;
}

/** Why a value is refused; the sentence continues after the key. */
export interface Refusal {
  readonly reason: string;
  /** What would be valid. */
  readonly expected?: string;
}

/** Everything that can be declared about a setting besides its key. `W` is its value as written. */
interface Row<T, D, W> {
  readonly type: Kind<T>;
  /** The value if none is given; null means unset, and may then be written too. */
  readonly default: D;
  /** The default in words, if it depends on something else. */
  readonly defaultText?: string;
  /** What it does, in one or two sentences. */
  readonly about: string;
  /**
   * Variables that set it, strongest first; for a setting with a user-chosen name, by that name.
   */
  readonly env?: readonly string[] | Readonly<Record<string, readonly string[]>>;
  /** Other keys of the config file with the same meaning. */
  readonly aliases?: readonly string[];
  /** True if an alias overrides the key itself; otherwise the key wins. */
  readonly aliasesWin?: true;
  /** The command-line flag that sets it, for messages. */
  readonly flag?: string;
  /** The value in a fresh config file if the default is null. */
  readonly example?: unknown;
  /** Never printed. */
  readonly secret?: true;
  /** Members of the value, at any depth, that are never printed, while the rest is. */
  readonly secretMembers?: readonly string[];
  /** May not be set by a `proxy.yaml` that was merely found in the current folder. */
  readonly guarded?: true;
  /** True if a running proxy applies it only after a restart. */
  readonly needsRestart?: true;
  /**
   * For a protective setting: true if `next` protects less than `before`. A `proxy.yaml` that was
   * merely found may not do that.
   */
  loosens?(next: W, before: W): boolean;
  /** Makes the paths in a value absolute; absent for a setting without paths. */
  resolve?(value: T, absolute: (path: string) => string): T;
  /** Returns the faults of a value of the right kind, checked after all sources were read. */
  refuse?(value: T): readonly Refusal[];
}

/** One setting. `T` is the type of its value as written, `V` as the program uses it. */
export interface Setting<K extends string = string, T = unknown, V = unknown> extends Row<T, T, T> {
  /** Its key in the config file; `<name>` is a placeholder for a name that the user chooses. */
  readonly key: K;
  /**
   * Converts to the value that the program uses: in its units, with derived defaults; without it,
   * the value is used as written.
   */
  read?(value: T, home: string): V;
}

/** A default of null makes the value nullable. */
type Written<T, D> = null extends D ? T | null : T;

/** Declares a setting; the type of its value follows from its kind, its default and `read`. */
export function setting<const K extends string, T, const D extends NoInfer<T> | null>(
  key: K,
  row: Row<T, D, Written<T, D>> & { readonly read?: never },
): Setting<K, Written<T, D>, Written<T, D>>;
export function setting<const K extends string, T, const D extends NoInfer<T> | null, V>(
  key: K,
  row: Row<T, D, Written<T, D>> & { read(value: Written<T, D>, home: string): V },
): Setting<K, Written<T, D>, V>;
export function setting(key: string, row: Omit<Setting, 'key'>): Setting {
  // A kind's check, `resolve` and `refuse` never receive null: an unset value is handled before.
  return { key, ...row };
}

/** For a setting whose whole value is one path. */
export function asPath(value: string, absolute: (path: string) => string): string {
  return absolute(value);
}

/** For a flag that protects while it is on. */
export function isSwitchedOff(next: boolean, before: boolean): boolean {
  return before && !next;
}

/** For a flag that protects while it is off. */
export function isSwitchedOn(next: boolean, before: boolean): boolean {
  return next && !before;
}

/** For a limit; null means no limit. */
export function isRaised(next: number | null, before: number | null): boolean {
  return before !== null && (next === null || next > before);
}

/** Converts seconds to milliseconds. */
export function toMs(seconds: number): number {
  return seconds * 1000;
}

/** Converts mebibytes to bytes. */
export function toBytes(mebibytes: number): number {
  return mebibytes * 1024 * 1024;
}

/** Quotes text, cut at 60 characters, with control characters escaped. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}
