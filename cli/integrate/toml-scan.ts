/** Parses TOML as far as edits need it: positions and names of its headers and pairs. */
import { SvcError } from '../../engine/error.ts';
import { nextLine } from './text-format.ts';

/** One statement; `start` and `end` cover its whole lines. */
export type TomlStatement = TomlHeader | TomlPair;

/** `[a.b]` or `[[a.b]]`. */
export interface TomlHeader {
  readonly kind: 'header';
  readonly path: readonly string[];
  readonly isList: boolean;
  readonly start: number;
  readonly end: number;
}

/** `a.b = value`; `path` includes its table. */
export interface TomlPair {
  readonly kind: 'pair';
  readonly path: readonly string[];
  /** Path of its header, or empty at the top. */
  readonly table: readonly string[];
  readonly start: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly end: number;
}

const KEY = /(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')/y;

/**
 * Returns every statement in file order.
 *
 * @throws SvcError `config` with the line of a syntax error.
 */
export function scanToml(text: string): TomlStatement[] {
  const statements: TomlStatement[] = [];
  let table: readonly string[] = [];
  let lists = 0;
  for (let at = text.startsWith('\uFEFF') ? 1 : 0; at < text.length;) {
    const start = at;
    at = spaces(text, at);
    if (isLineEnd(text, at)) {
      at = nextLine(text, at);
      continue;
    }
    if (text[at] === '[') {
      const isList = text[at + 1] === '[';
      const keys = keysAt(text, at + (isList ? 2 : 1));
      const closing = isList ? ']]' : ']';
      if (!text.startsWith(closing, keys.end)) throw notToml(text, at);
      at = endOfLine(text, keys.end + closing.length);
      // Each table in a list is separate, and no path names it.
      table = isList ? [...keys.path, `[${(lists += 1)}]`] : keys.path;
      statements.push({ kind: 'header', path: table, isList, start, end: at });
      continue;
    }
    const keys = keysAt(text, at);
    if (text[keys.end] !== '=') throw notToml(text, at);
    const valueStart = spaces(text, keys.end + 1);
    const valueEnd = endOfValue(text, valueStart);
    at = endOfLine(text, valueEnd);
    const path = [...table, ...keys.path];
    statements.push({ kind: 'pair', path, table, start, valueStart, valueEnd, end: at });
  }
  return statements;
}

/** Returns a string, boolean or number value; undefined for all others. */
export function scalarOf(raw: string): string | number | boolean | undefined {
  if (raw === 'true' || raw === 'false') return raw === 'true';
  if (/^[-+]?\d[\d_]*(?:\.\d+)?$/.test(raw)) return Number(raw.replaceAll('_', ''));
  if (raw.startsWith("'''") || raw.startsWith('"""')) return raw.slice(3, -3);
  if (raw.startsWith("'")) return raw.slice(1, -1);
  return raw.startsWith('"') ? unquote(raw) : undefined;
}

function unquote(raw: string): string {
  try {
    return JSON.parse(raw) as string;
  } catch {
    return raw.slice(1, -1);
  }
}

function keysAt(text: string, from: number): { path: string[]; end: number } {
  const path: string[] = [];
  for (let at = spaces(text, from); ; at = spaces(text, at + 1)) {
    KEY.lastIndex = at;
    const raw = KEY.exec(text)?.[0];
    if (raw === undefined) throw notToml(text, from);
    path.push(/^["']/.test(raw) ? String(scalarOf(raw)) : raw);
    at = spaces(text, at + raw.length);
    if (text[at] !== '.') return { path, end: at };
  }
}

/** Returns the end of the value that begins at `from`. */
function endOfValue(text: string, from: number): number {
  const quoted = /"""[\s\S]*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;
  quoted.lastIndex = from;
  if (quoted.test(text)) return quoted.lastIndex;
  if (text[from] === '[' || text[from] === '{') return endOfBrackets(text, from);
  const bare = /[^\s#,\]}"'=[{][^#\r\n,\]}"'=[{]*/y;
  bare.lastIndex = from;
  const raw = bare.exec(text)?.[0];
  if (raw === undefined) throw notToml(text, from);
  return from + raw.trimEnd().length;
}

function endOfBrackets(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length;) {
    const sign = text[at]!;
    if (sign === '#') at = nextLine(text, at);
    else if (sign === '"' || sign === "'") at = endOfValue(text, at);
    else {
      if (sign === '[' || sign === '{') depth += 1;
      if (sign === ']' || sign === '}') depth -= 1;
      at += 1;
      if (depth === 0) return at;
    }
  }
  throw notToml(text, from);
}

function endOfLine(text: string, from: number): number {
  const at = spaces(text, from);
  if (!isLineEnd(text, at)) throw notToml(text, from);
  return nextLine(text, at);
}

function spaces(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at;
}

function isLineEnd(text: string, at: number): boolean {
  return at >= text.length || text[at] === '\n' || text[at] === '#' || text.startsWith('\r\n', at);
}

function notToml(text: string, at: number): SvcError {
  const line = text.slice(0, at).split('\n').length;
  return new SvcError('config', `it is not TOML in line ${line}`);
}
