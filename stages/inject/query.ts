/** What a user asked, and where an answer from their files may be added. */
import { createHash } from 'node:crypto';
import type { Block } from '../model/block.ts';
import { isBillingBlock } from '../model/conversation.ts';
import { isObject } from '../dialect/json-kind.ts';

/** The end of a long text is where the question stands. */
const MAX_QUERY_CHARS = 2000;

/** A message of the user that asks something in words of its own. */
export interface Question {
  /** The message's number. */
  readonly message: number;
  readonly query: string;
  /** Names the conversation up to and including this message, as the client sent it. */
  readonly prefix: string;
  /** True if nothing follows it, so that it is being asked now. */
  readonly isLast: boolean;
}

/** Text that the client's program put in, not the user. */
function isProgramText(text: string): boolean {
  return text.trimStart().startsWith('<system-reminder>');
}

function asksSomething(block: Block): boolean {
  return (
    block.role === 'user' &&
    block.kind === 'text' &&
    block.path !== undefined &&
    block.text.trim() !== ''
  );
}

/**
 * The questions of a conversation, oldest first. A message that answers tool calls is
 * none, even if it has text too: nothing may come between a call and its result.
 */
export function questionsOf(blocks: readonly Block[]): Question[] {
  const questions: Question[] = [];
  const hash = createHash('sha256');
  const lastMessage = blocks.at(-1)?.message;
  for (let at = 0; at < blocks.length;) {
    const { message } = blocks[at]!;
    const end = endOfMessage(blocks, at);
    const parts = blocks.slice(at, end);
    for (const block of parts) {
      if (!isBillingBlock(block))
        hash.update(`\0${block.role}\0${block.kind}\0`).update(block.text);
    }
    const query = queryOf(parts);
    if (query !== undefined && message >= 0) {
      const prefix = hash.copy().digest('base64url').slice(0, 22);
      questions.push({ message, query, prefix, isLast: message === lastMessage });
    }
    at = end;
  }
  return questions;
}

function endOfMessage(blocks: readonly Block[], from: number): number {
  const { message } = blocks[from]!;
  const end = blocks.findIndex((block, index) => index > from && block.message !== message);
  return end < 0 ? blocks.length : end;
}

function queryOf(parts: readonly Block[]): string | undefined {
  if (parts.some((block) => block.kind === 'tool_result')) return undefined;
  const asked = parts.filter((block) => asksSomething(block) && !isProgramText(block.text));
  if (asked.length === 0) return undefined;
  return asked
    .map((block) => block.text)
    .join('\n')
    .slice(-MAX_QUERY_CHARS);
}

/** What was added to one message, so that it can be added again in every later turn. */
export interface Injection {
  /** Empty where nothing was found: that is remembered too. */
  readonly text: string;
  readonly ids: readonly string[];
  readonly tokens: number;
}

/** Reads what `JSON.stringify` made of an injection; undefined for anything else. */
export function readInjection(text: string | undefined): Injection | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return undefined;
    const { text: added, ids, tokens } = value;
    if (typeof added !== 'string' || typeof tokens !== 'number' || !Array.isArray(ids))
      return undefined;
    return { text: added, ids: ids.filter((id) => typeof id === 'string'), tokens };
  } catch {
    return undefined;
  }
}
