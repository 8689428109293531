/** Function arguments that arrive in pieces, each with its path. */
import type { JsonObject } from '../canonical.ts';
import { ExactNumber } from '../exact-number.ts';
import { exactJson } from '../exact-json.ts';
import { stringOf } from '../json-kind.ts';

/** Arguments as they grow. Objects have no prototype, so no key of the wire is special. */
export type GrowingArguments = ReturnType<typeof createArguments>;

type Container = { [key: string]: unknown } | unknown[];

/** An index further than this beyond the end of its list is invalid, and would cost memory. */
const MAX_INDEX_GAP = 1000;

export function createArguments() {
  const root: Container = emptyObject();
  return {
    /**
     * Adds one piece (`{jsonPath, stringValue | numberValue | boolValue | nullValue}`); strings at
     * one path are joined.
     */
    add(piece: JsonObject): void {
      const path = parsePath(stringOf(piece.jsonPath) ?? '');
      const last = path.pop();
      if (last === undefined) return;
      let at: Container | undefined = root;
      for (let i = 0; i < path.length && at !== undefined; i += 1) {
        at = descend(at, path[i]!, path[i + 1] ?? last);
      }
      if (at !== undefined) assignPiece(at, last, piece);
    },
    /** Returns what has arrived, as JSON text. */
    json: (): string => exactJson(root),
  };
}

function emptyObject(): { [key: string]: unknown } {
  return Object.create(null) as { [key: string]: unknown };
}

/** Parses `$.a[0].b` or `$['a'][0]` into its steps. */
function parsePath(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const match of path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]/g)) {
    const [, dotted, index, single, double] = match;
    steps.push(index === undefined ? (dotted ?? single ?? double ?? '') : Number(index));
  }
  return steps;
}

function descend(
  at: Container,
  step: string | number,
  next: string | number,
): Container | undefined {
  const existing = get(at, step);
  if (typeof existing === 'object' && existing !== null) return existing as Container;
  const made: Container = typeof next === 'number' ? [] : emptyObject();
  return set(at, step, made) ? made : undefined;
}

function assignPiece(at: Container, step: string | number, piece: JsonObject): void {
  const value = valueOf(piece);
  if (value === undefined) return;
  const before = get(at, step);
  const joined = typeof value === 'string' && typeof before === 'string' ? before + value : value;
  set(at, step, joined);
}

function valueOf(piece: JsonObject): unknown {
  if ('stringValue' in piece) return stringOf(piece.stringValue) ?? '';
  if ('numberValue' in piece) {
    const { numberValue } = piece;
    return typeof numberValue === 'number' || numberValue instanceof ExactNumber
      ? numberValue
      : null;
  }
  if ('boolValue' in piece) return piece.boolValue === true;
  return 'nullValue' in piece ? null : undefined;
}

function get(at: Container, step: string | number): unknown {
  if (Array.isArray(at)) return typeof step === 'number' ? at[step] : undefined;
  return at[String(step)];
}

function set(at: Container, step: string | number, value: unknown): boolean {
  if (!Array.isArray(at)) {
    at[String(step)] = value;
    return true;
  }
  if (typeof step !== 'number' || step > at.length + MAX_INDEX_GAP) return false;
  at[step] = value;
  return true;
}
