/** The turns of a conversation at which something may be added, and what names each of them. */
import { createHash } from 'node:crypto';
import type { Block } from '../model/block.ts';
import { isBillingBlock } from '../model/conversation.ts';

/** A message of the user that has text and answers no tool call. */
export interface Question {
  /** The message's number. */
  readonly message: number;
  /** Names the conversation up to and including this message, as the client sent it. */
  readonly prefix: string;
  /** True if it is what the model is being asked now. */
  readonly isLast: boolean;
  readonly texts: readonly string[];
}

/**
 * The questions of a conversation, oldest first. A message that answers tool calls is
 * none, even if it has text too: nothing may come between a call and its result.
 */
export function questionsOf(blocks: readonly Block[]): Question[] {
  const questions: Question[] = [];
  const hash = createHash('sha256');
  // Some programs put a reminder of their own, in a system role, behind the question.
  const lastMessage = blocks.findLast((block) => block.role !== 'system')?.message;
  for (let at = 0; at < blocks.length;) {
    const { message } = blocks[at]!;
    const texts: string[] = [];
    let answersCall = false;
    for (; at < blocks.length && blocks[at]!.message === message; at++) {
      const block = blocks[at]!;
      if (isPartOfName(block)) {
        hash.update(`\0${block.role}\0${block.kind}\0`);
        hash.update(nameOf(block));
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
 * The billing block changes in every request. Reasoning is dropped from later turns by
 * some clients, and neither the question nor what was added to it changes with that.
 */
function isPartOfName(block: Block): boolean {
  return block.kind !== 'thinking' && !isBillingBlock(block);
}

/**
 * A tool's output goes by the id of its call, which is made once: output is most of what a
 * conversation holds, and clients clear old output in later turns.
 */
function nameOf(block: Block): string {
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
