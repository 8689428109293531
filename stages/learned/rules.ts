/**
 * The rules that `svc learn apply` derives: kinds of output to leave alone because compressing them
 * gains nothing. A rule set's id is a hash of its content, so that a conversation can be pinned to
 * it.
 */
import { createHash } from 'node:crypto';

/** A kind of output: compression mode, text class and tool. */
export interface PatternName {
  readonly mode: string;
  /** Class of the text. */
  readonly kind: string;
  /** Null for text pasted by a user. */
  readonly toolName: string | null;
}

/** A frozen rule set. */
export interface Rules {
  readonly id: string;
  /** Keys (`toKey`) of the patterns to leave alone, sorted. */
  readonly skip: readonly string[];
}

/**
 * Returns a pattern's key, one line. Modes and classes have no spaces, so the rest is the tool's
 * name.
 */
export function toKey({ mode, kind, toolName }: PatternName): string {
  return toolName === null ? `${mode} ${kind}` : `${mode} ${kind} ${toolName}`;
}

/** Parses a key; undefined for an invalid one. */
export function fromKey(key: string): PatternName | undefined {
  const match = /^(\S+) (\S+)(?: (.+))?$/s.exec(key);
  if (match === null) return undefined;
  return { mode: match[1]!, kind: match[2]!, toolName: match[3] ?? null };
}

/** Builds rules that skip these patterns; equal patterns give the same id. */
export function toRules(keys: Iterable<string>): Rules {
  const skip = [...new Set(keys)].toSorted();
  const id = createHash('sha256').update(skip.join('\n')).digest('base64url').slice(0, 12);
  return Object.freeze({ id, skip: Object.freeze(skip) });
}
