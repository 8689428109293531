/**
 * Tool results written for a reader: a person's reply, another agent's report, or instructions.
 * They are kept as user text is, since any sentence may be the one that matters.
 */
import { namesInstructions } from './instructions.ts';
import { hintsOf } from './block-label.ts';
import type { ConversationBlock } from './blocks.ts';

/** Tools that pass on what a person or another agent said. */
const SPEAKS = /task|agent|ask|question|delegat|handoff|human|user|permission|plan/i;
/** Tools that return instructions. */
const INSTRUCTS = /skill|instruction|rule|guideline|feedback|approv/i;

/** Tools that fetch human communication: tickets, reviews, messages, minutes. */
const WRITTEN =
  /issue|comment|message|mail|thread|conversation|chat|slack|discord|ticket|pull_?request|review|discussion|transcript|meeting|jira|linear|story|note|memor/i;

/**
 * Returns true for a tool whose result cannot be requested again: a person or another agent is
 * speaking.
 */
export function isSpoken(toolName: string): boolean {
  return SPEAKS.test(toolName);
}

/** Returns true for a result in which no sentence may be left out. */
export function isHumanAuthored(block: ConversationBlock): boolean {
  if (block.kind !== 'tool_result') return false;
  const { toolName = '' } = hintsOf(block);
  if (SPEAKS.test(toolName) || INSTRUCTS.test(toolName) || WRITTEN.test(toolName)) return true;
  return namesInstructions(JSON.stringify(block.toolInput ?? ''));
}
