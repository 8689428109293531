/** What one setting is: the row from which types, checks, `config show`, documents and hints are made. */
import type { Kind } from './kind.ts';

/** Where a value came from, weakest first. */
export type OriginKind = 'default' | 'file' | 'env-file' | 'environment' | 'flag';

/** A place: the source, and in words the file and line, the variable or the flag. */
export interface Origin {
  readonly source: OriginKind;
  /** `proxy.yaml:12`, `SVC_PORT`, `.env:3 (SVC_PORT)`, `--port`; empty for a default. */
  readonly where: string;
}

/** Why a value is refused; the sentence goes on after the key. */
export interface Refusal {
  readonly reason: string;
  /** What should stand there. */
  readonly expected?: string;
}

/** All that can be declared of a setting beside its key. `W` is its value as written. */
interface Row<T, D, W> {
  readonly type: Kind<T>;
  /** What holds when nobody says anything; null means unset, and may then be written too. */
  readonly default: D;
  /** The default in words, where it depends on something else. */
  readonly defaultText?: string;
  /** What it does, as one or two sentences. */
  readonly about: string;
  /** Variables that set it, strongest first; of a setting with a name, by that name. */
  readonly env?: readonly string[] | Readonly<Record<string, readonly string[]>>;
  /** Other keys of the config file that mean the same. */
  readonly aliases?: readonly string[];
  /** True when an alias beats the key itself; without it the key wins. */
  readonly aliasesWin?: true;
  /** The command-line flag that sets it, for messages. */
  readonly flag?: string;
  /** What a fresh config file shows where the default is null. */
  readonly example?: unknown;
  /** Never printed. */
  readonly secret?: true;
  /** Members of the value, at any depth, that are never printed, while the rest of it is. */
  readonly secretMembers?: readonly string[];
  /** A `proxy.yaml` that was merely found in the current folder may not set it. */
  readonly guarded?: true;
  /** True when a running proxy takes it up only after a restart. */
  readonly needsRestart?: true;
  /** For a setting that protects somebody: true when `next` protects less than `before`. A found `proxy.yaml` may not. */
  loosens?(next: W, before: W): boolean;
  /** Makes the paths in a value absolute; a setting without paths has none. */
  resolve?(value: T, absolute: (path: string) => string): T;
  /** What is wrong with a value of the right kind, in the end, when all sources were read. */
  refuse?(value: T): readonly Refusal[];
}

/** One setting. `T` is the type of its value as written, `V` as the program uses it. */
export interface Setting<K extends string = string, T = unknown, V = unknown> extends Row<T, T, T> {
  /** Its key in the config file; `<name>` stands for a name that the user chooses. */
  readonly key: K;
  /** The value as the program uses it: in its units, with derived defaults; left out, it is as written. */
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
  // A kind's check, `resolve` and `refuse` never see null: an unset value is decided before.
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

/** For a limit; null is none. */
export function isRaised(next: number | null, before: number | null): boolean {
  return before !== null && (next === null || next > before);
}

/** Seconds in milliseconds. */
export function toMs(seconds: number): number {
  return seconds * 1000;
}

/** Mebibytes in bytes. */
export function toBytes(mebibytes: number): number {
  return mebibytes * 1024 * 1024;
}

/** Text in quotes, cut at 60 characters, control characters escaped. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}
