/** Edits TOML settings files. */
import { scalarOf, scanToml } from './toml-scan.ts';
import type { TomlPair, TomlStatement } from './toml-scan.ts';
import {
  occupiedPath,
  isPathPrefix,
  isSamePath,
  newlineOf,
  splice,
  withFinalNewline,
} from './text-format.ts';
import type { KeyPath, TextFormat } from './text-format.ts';

export const toml: TextFormat = {
  find(text, path) {
    const pair = pairAt(scanToml(text), path);
    if (pair === undefined) return undefined;
    const raw = text.slice(pair.valueStart, pair.valueEnd);
    return { raw, value: scalarOf(raw) };
  },
  put(text, path, raw) {
    const statements = scanToml(text);
    const pair = pairAt(statements, path);
    if (pair !== undefined) return splice(text, pair.valueStart, pair.valueEnd, raw);
    const parent = path.slice(0, -1);
    const newline = newlineOf(text);
    const line = `${keyText([path.at(-1)!])} = ${raw}${newline}`;
    const at = endOfTable(statements, parent);
    if (at !== undefined) {
      const before = withFinalNewline(text.slice(0, at));
      return before + line + text.slice(at);
    }
    if (parent.length === 0) {
      const start = text.startsWith('\uFEFF') ? 1 : 0;
      return splice(text, start, start, line + (/^\s*(?:\r?\n|$)/.test(text) ? '' : newline));
    }
    // Inline tables and dotted keys define a table, which must not be defined again by a header.
    const other = statements.find(
      (one) =>
        (isPathPrefix(one.path, path) && one.kind === 'pair') ||
        isDottedInto(one, parent) ||
        isListOf(one, path),
    );
    if (other !== undefined) throw occupiedPath(parent);
    const whole = withFinalNewline(text);
    return `${whole}${whole === '' ? '' : newline}[${keyText(parent)}]${newline}${line}`;
  },
  remove(text, path) {
    const statements = scanToml(text);
    const pair = pairAt(statements, path);
    if (pair !== undefined) return splice(text, pair.start, pair.end, '');
    const header = statements.find((one) => one.kind === 'header' && isSamePath(one.path, path));
    if (header === undefined) return text;
    const before = text.slice(0, header.start).replace(/(\n)\r?\n$/, '$1');
    return before + text.slice(header.end);
  },
  has: (text, path) => scanToml(text).some((one) => isPathPrefix(path, one.path)),
  isEmpty(text, path) {
    const statements = scanToml(text);
    return (
      statements.some((one) => one.kind === 'header' && isSamePath(one.path, path)) &&
      !statements.some((one) => one.path.length > path.length && isPathPrefix(path, one.path))
    );
  },
  encode: (value) => JSON.stringify(value),
};

function pairAt(statements: readonly TomlStatement[], path: KeyPath): TomlPair | undefined {
  return statements.find(
    (one): one is TomlPair => one.kind === 'pair' && isSamePath(one.path, path),
  );
}

/**
 * Returns the position after the last pair of the table at `path`; undefined if it has no header
 * or, at the top, no pair.
 */
function endOfTable(statements: readonly TomlStatement[], path: KeyPath): number | undefined {
  return statements.findLast((one) =>
    one.kind === 'pair' ? isSamePath(one.table, path) : isSamePath(one.path, path),
  )?.end;
}

function isDottedInto(one: TomlStatement, table: KeyPath): boolean {
  return one.kind === 'pair' && one.table.length < table.length && isPathPrefix(table, one.path);
}

/** True if a list of tables is where a table is needed. */
function isListOf(one: TomlStatement, path: KeyPath): boolean {
  return one.kind === 'header' && one.isList && isPathPrefix(one.path.slice(0, -1), path);
}

function keyText(path: KeyPath): string {
  return path
    .map((part) => (/^[A-Za-z0-9_-]+$/.test(String(part)) ? part : JSON.stringify(part)))
    .join('.');
}
