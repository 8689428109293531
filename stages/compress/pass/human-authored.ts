/**
 * Which results of tools are words of somebody: a person's answer, another agent's report, or
 * instructions. They are kept as what a user wrote is, since any sentence may be the one that counts.
 */
import { namesInstructions } from './instructions.ts';
import { hintsOf } from './block-label.ts';
import type { ConversationBlock } from './blocks.ts';

/** Tools that hand on what a person or another agent said. */
const SPEAKS = /task|agent|ask|question|delegat|handoff|human|user|permission|plan/i;
/** Tools that hand out instructions. */
const INSTRUCTS = /skill|instruction|rule|guideline|feedback|approv/i;

/** Tools that fetch what people wrote to each other: tickets, reviews, messages, minutes. */
const WRITTEN =
  /issue|comment|message|mail|thread|conversation|chat|slack|discord|ticket|pull_?request|review|discussion|transcript|meeting|jira|linear|story|note|memor/i;

/** True of a tool whose results nobody can be asked for once more: a person or another agent speaks. */
export function isSpoken(toolName: string): boolean {
  return SPEAKS.test(toolName);
}

/** True of a result in which no sentence may be left out. */
export function isHumanAuthored(block: ConversationBlock): boolean {
  if (block.kind !== 'tool_result') return false;
  const { toolName = '' } = hintsOf(block);
  if (SPEAKS.test(toolName) || INSTRUCTS.test(toolName) || WRITTEN.test(toolName)) return true;
  return namesInstructions(JSON.stringify(block.toolInput ?? ''));
}
