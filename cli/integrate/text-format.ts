/**
 * How a client's settings file is edited: as text, so that comments, order and layout of all other
 * content are kept. Each format finds, writes and removes single values.
 */
import { SvcError } from '../../engine/error.ts';

/** Path of a value: names of objects or tables, and list indexes. */
export type KeyPath = readonly (string | number)[];

/** A value found in a file. */
export interface Found {
  readonly value: unknown;
  /** Its own text, so that it can be restored exactly. */
  readonly raw: string;
}

/** Edits of one file format. All throw SvcError `config` for invalid text. */
export interface TextFormat {
  /** Returns the value at `path`; undefined if there is none. */
  find(text: string, path: KeyPath): Found | undefined;
  /**
   * Returns the text with `raw` at `path`; creates missing objects around it. Throws `conflict` if
   * something else is in their place.
   */
  put(text: string, path: KeyPath, raw: string): string;
  /** Returns the text without `path`. */
  remove(text: string, path: KeyPath): string;
  /** True if there is anything at `path`, including an object or a table. */
  has(text: string, path: KeyPath): boolean;
  /** True if there is an empty object or table at `path`. */
  isEmpty(text: string, path: KeyPath): boolean;
  encode(value: string | boolean): string;
}

/** Returns the newline of a text. */
export function newlineOf(text: string): '\n' | '\r\n' {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

/** Returns the text with `[start, end)` replaced. */
export function splice(text: string, start: number, end: number, inserted: string): string {
  return text.slice(0, start) + inserted + text.slice(end);
}

/** Returns the start of the line that contains `at`. */
export function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

/** Returns the start of the line after the one that contains `at`. */
export function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

/** Returns the text with a newline at its end, unless it is empty. */
export function withFinalNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : text + newlineOf(text);
}

export function isSamePath(a: KeyPath, b: KeyPath): boolean {
  return a.length === b.length && isPathPrefix(a, b);
}

export function isPathPrefix(prefix: KeyPath, path: KeyPath): boolean {
  return prefix.every((part, at) => part === path[at]);
}

/** Returns the error for a file that has another value where an object is needed. */
export function occupiedPath(path: KeyPath): SvcError {
  return new SvcError('conflict', `${path.join('.')} already exists, in another form`, {
    cure: 'Nothing was changed. Add the settings by hand: without --apply they are shown.',
  });
}
