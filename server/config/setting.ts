/** What one setting is: the row from which checks, `config show`, documents and hints are made. */
import type { ValueType } from './value.ts';

/** One setting. `T` is the type of its value, null included where it can be unset. */
export interface Setting<T> {
  readonly type: ValueType<T>;
  /** What holds when nobody says anything; null means unset. */
  readonly default: T;
  /** The default in words, where it depends on something else. */
  readonly defaultText?: string;
  /** Variables that set it, strongest first. */
  readonly env?: readonly string[];
  /** Other keys of the config file that mean the same. */
  readonly aliases?: readonly string[];
  /** True when an alias beats the key itself; without it the key wins. */
  readonly aliasesWin?: true;
  /** The command-line flag that sets it, for messages. */
  readonly flag?: string;
  /** What it does, as one or two sentences. */
  readonly about: string;
  /** Never printed. */
  readonly secret?: true;
  /** A `proxy.yaml` that was merely found in the current folder may not set it. */
  readonly guarded?: true;
  /** For a setting that protects somebody: true when `next` protects less than `before`. A found `proxy.yaml` may not. */
  readonly loosens?: (next: T, before: T) => boolean;
  /** Makes the paths in a value absolute; a setting without paths has none. */
  readonly resolve?: (value: T, absolute: (path: string) => string) => T;
  /** True when a running proxy takes it up only after a restart. */
  readonly needsRestart?: true;
}

/** The same row as it is written: a default of null makes the value nullable. */
type Declared<T, D> = Omit<Setting<T>, 'type' | 'default' | 'resolve' | 'loosens'> & {
  readonly type: ValueType<T>;
  readonly default: D;
  readonly resolve?: (value: NoInfer<T>, absolute: (path: string) => string) => NoInfer<T>;
  readonly loosens?: (next: NoInfer<T> | D, before: NoInfer<T> | D) => boolean;
};

/** Declares a setting; the type of its value follows from its kind and its default. */
export function setting<T>(row: Declared<T, null>): Setting<T | null>;
export function setting<T>(row: Declared<T, NoInfer<T>>): Setting<T>;
export function setting<T>(row: Declared<T, NoInfer<T> | null>): Setting<T | null> {
  // A kind's check and `resolve` never see null: an unset value is decided before (layer.ts).
  return row as unknown as Setting<T | null>;
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

/** For a limit; null is none. */
export function isRaised(next: number | null, before: number | null): boolean {
  return before !== null && (next === null || next > before);
}
