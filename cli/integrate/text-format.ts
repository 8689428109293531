/**
 * How a client's settings file is edited: as text, so that comments, order and layout of everything
 * that is not ours stay. Each format finds, writes and removes single values.
 */
import { SvcError } from '../../engine/error.ts';

/** Where a value stands: names of objects or tables, and places in lists. */
export type KeyPath = readonly (string | number)[];

/** A value as it stands in a file. */
export interface Found {
  readonly value: unknown;
  /** Its own text, so that it can be put back to the letter. */
  readonly raw: string;
}

/** Edits of one kind of file. All throw SvcError `config` for text that is not of that kind. */
export interface TextFormat {
  /** The value at `path`; undefined where there is none. */
  find(text: string, path: KeyPath): Found | undefined;
  /** The text with `raw` at `path`; missing objects around it are made. Throws `conflict` where something else is in their place. */
  put(text: string, path: KeyPath, raw: string): string;
  /** The text without `path`. */
  remove(text: string, path: KeyPath): string;
  /** True where there is anything at `path`, an object or a table too. */
  has(text: string, path: KeyPath): boolean;
  /** True where there is an object or table at `path` with nothing in it. */
  isEmpty(text: string, path: KeyPath): boolean;
  encode(value: string | boolean): string;
}

/** The newline of a text. */
export function newlineOf(text: string): '\n' | '\r\n' {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

/** The text with `[start, end)` replaced. */
export function splice(text: string, start: number, end: number, inserted: string): string {
  return text.slice(0, start) + inserted + text.slice(end);
}

/** Where the line that holds `at` begins. */
export function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

/** Where the line after the one that holds `at` begins. */
export function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

/** The text with a newline at its end, unless it is empty. */
export function withFinalNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : text + newlineOf(text);
}

export function isSamePath(a: KeyPath, b: KeyPath): boolean {
  return a.length === b.length && isPathPrefix(a, b);
}

export function isPathPrefix(prefix: KeyPath, path: KeyPath): boolean {
  return prefix.every((part, at) => part === path[at]);
}

/** The error for a file in which something else stands where an object is needed. */
export function inTheWay(path: KeyPath): SvcError {
  return new SvcError('conflict', `${path.join('.')} is there already, in another form`, {
    cure: 'Nothing was changed. Add the settings by hand: without --apply they are shown.',
  });
}
