/**
 * What `svc learn apply` makes of what was learned: which kinds of output are left
 * alone because compressing them gains nothing. Rules carry an id made from their
 * content, so that a conversation can be pinned to them.
 */
import { createHash } from 'node:crypto';

/** A kind of output that compression met: in which mode, of which class, from which tool. */
export interface PatternName {
  readonly mode: string;
  /** The text's class. */
  readonly kind: string;
  /** Null for text that a user pasted. */
  readonly toolName: string | null;
}

/** A frozen set of rules. */
export interface Rules {
  readonly id: string;
  /** Patterns left alone, as `toKey` writes them, sorted. */
  readonly skip: readonly string[];
}

/** One line for a pattern. Modes and classes have no spaces, so the rest is the tool's name. */
export function toKey({ mode, kind, toolName }: PatternName): string {
  return toolName === null ? `${mode} ${kind}` : `${mode} ${kind} ${toolName}`;
}

/** The pattern behind a key; undefined for what is none. */
export function fromKey(key: string): PatternName | undefined {
  const match = /^(\S+) (\S+)(?: (.+))?$/s.exec(key);
  if (match === null) return undefined;
  return { mode: match[1]!, kind: match[2]!, toolName: match[3] ?? null };
}

/** Rules that skip these patterns; the same patterns give the same id. */
export function toRules(keys: Iterable<string>): Rules {
  const skip = [...new Set(keys)].toSorted();
  const id = createHash('sha256').update(skip.join('\n')).digest('base64url').slice(0, 12);
  return Object.freeze({ id, skip: Object.freeze(skip) });
}
