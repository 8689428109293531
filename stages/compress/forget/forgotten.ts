/**
 * What a conversation's requests leave out from a cold moment on. It is kept durably and repeated
 * byte for byte in every later turn, also after a restart and where the setting is off by then;
 * where it cannot be read, the originals go out.
 */
import type { Decisions } from '../../decisions/decisions.ts';
import { parseJson } from '../../dialect/json-kind.ts';
import type { ConversationBlock } from '../conversation/blocks.ts';
import { resultKeys } from '../conversation/result-keys.ts';
import type { Forgettable } from './forgettable.ts';

/** What goes out in place of a result, and the tokens of what went out before. */
interface Kept {
  readonly line: string;
  readonly tokens: number;
}

type Entry = readonly [key: string, line: string, tokens: number];

const keyOf = (conversation: string): string => `forget:${conversation}`;

function read(decisions: Decisions, conversation: string): ReadonlyMap<string, Kept> {
  const text = decisions.get(keyOf(conversation));
  const entries = text === undefined ? [] : parseJson(text);
  if (!Array.isArray(entries) || !entries.every(isEntry)) return new Map();
  return new Map(entries.map(([key, line, tokens]) => [key, { line, tokens }]));
}

function isEntry(value: unknown): value is Entry {
  if (!Array.isArray(value)) return false;
  const [key, line, tokens]: unknown[] = value;
  return (
    typeof key === 'string' && typeof line === 'string' && line !== '' && typeof tokens === 'number'
  );
}

/** The blocks with what goes out in place of those that were forgotten, and the tokens that this saves. */
export function withForgotten(
  blocks: readonly ConversationBlock[],
  decisions: Decisions,
  conversation: string,
): readonly ConversationBlock[] {
  const kept = read(decisions, conversation);
  if (kept.size === 0) return blocks;
  const keys = resultKeys(blocks);
  return blocks.map((block, at) => leftOut(block, kept.get(keys[at] ?? '')));
}

/** The same without a record: `more` is left out as well. */
export function leavingOut(
  blocks: readonly ConversationBlock[],
  more: readonly Forgettable[],
): readonly ConversationBlock[] {
  const found = new Map(more.map((one) => [one.block, one]));
  return blocks.map((block) => leftOut(block, found.get(block)));
}

function leftOut(block: ConversationBlock, kept: Kept | undefined): ConversationBlock {
  return kept === undefined
    ? block
    : { ...block, forgotten: kept.line, tokensForgotten: kept.tokens };
}

/** Remembers all of `blocks` that are forgotten; resolves when that is on disk, or could not be written. */
export async function rememberForgotten(
  blocks: readonly ConversationBlock[],
  decisions: Decisions,
  conversation: string,
): Promise<void> {
  const kept = new Map(read(decisions, conversation));
  const keys = resultKeys(blocks);
  blocks.forEach(({ forgotten, tokensForgotten = 0 }, at) => {
    const key = keys[at];
    if (key === undefined || forgotten === undefined || kept.has(key)) return;
    kept.set(key, { line: forgotten, tokens: tokensForgotten });
  });
  const entries = [...kept].map(([key, { line, tokens }]): Entry => [key, line, tokens]);
  decisions.set(keyOf(conversation), JSON.stringify(entries));
  await decisions.flush();
}
