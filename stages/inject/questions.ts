/** The turns of a conversation that may get an addition, and the key of each. */
import { createHash } from 'node:crypto';
import type { Block } from '../model/block.ts';
import { isBillingBlock } from '../model/conversation.ts';

/** A user message that has text and no tool result. */
export interface Question {
  /** Message index. */
  readonly message: number;
  /** Key of the conversation up to and including this message, as the client sent it. */
  readonly prefix: string;
  /** True for the current question. */
  readonly isLast: boolean;
  readonly texts: readonly string[];
}

/**
 * Returns the questions of a conversation, oldest first. A message with tool results is not a
 * question even if it also has text: nothing may come between a call and its result.
 */
export function questionsOf(blocks: readonly Block[]): Question[] {
  const questions: Question[] = [];
  const hash = createHash('sha256');
  // Some clients append a reminder in a system role after the question.
  const lastMessage = blocks.findLast((block) => block.role !== 'system')?.message;
  for (let at = 0; at < blocks.length;) {
    const { message } = blocks[at]!;
    const texts: string[] = [];
    let answersCall = false;
    for (; at < blocks.length && blocks[at]!.message === message; at++) {
      const block = blocks[at]!;
      if (isPartOfKey(block)) {
        hash.update(`\0${block.role}\0${block.kind}\0`);
        hash.update(keyPartOf(block));
      }
      if (block.kind === 'tool_result') answersCall = true;
      if (isUserText(block)) texts.push(block.text);
    }
    if (texts.length === 0 || answersCall || message < 0) continue;
    const prefix = hash.copy().digest('base64url').slice(0, 22);
    questions.push({ message, prefix, isLast: message === lastMessage, texts });
  }
  return questions;
}

/**
 * Returns whether a block is part of the key. The billing block changes with every request, and
 * some clients drop reasoning from later turns, which changes neither the question nor its
 * addition.
 */
function isPartOfKey(block: Block): boolean {
  return block.kind !== 'thinking' && !isBillingBlock(block);
}

/**
 * Returns the block's contribution to the key. A tool result contributes only its unique call id:
 * output makes up most of a conversation, and clients clear old output in later turns.
 */
function keyPartOf(block: Block): string {
  return block.kind === 'tool_result' ? (block.toolUseId ?? block.text) : block.text;
}

function isUserText(block: Block): boolean {
  return (
    block.role === 'user' &&
    block.kind === 'text' &&
    block.path !== undefined &&
    block.text.trim() !== ''
  );
}
