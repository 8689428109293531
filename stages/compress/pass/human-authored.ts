/**
 * Tool results written for a reader: a person's reply, another agent's report, or instructions.
 * They are kept as user text is, since any sentence may be the one that matters.
 */
import { namesInstructions } from './instructions.ts';
import { originHints } from './block-label.ts';
import type { ConversationBlock } from './blocks.ts';

/** Tools that pass on what a person or another agent said. */
const CONVERSATION_TOOL = /task|agent|ask|question|delegat|handoff|human|user|permission|plan/i;
/** Tools that return instructions. */
const INSTRUCTION_TOOL = /skill|instruction|rule|guideline|feedback|approv/i;

/** Tools that fetch human communication: tickets, reviews, messages, minutes. */
const COMMUNICATION_TOOL =
  /issue|comment|message|mail|thread|conversation|chat|slack|discord|ticket|pull_?request|review|discussion|transcript|meeting|jira|linear|story|note|memor/i;

/**
 * Returns true for a tool whose result cannot be requested again: a person or another agent is
 * speaking.
 */
export function isConversationTool(toolName: string): boolean {
  return CONVERSATION_TOOL.test(toolName);
}

/** Returns true for a result in which no sentence may be left out. */
export function isHumanAuthored(block: ConversationBlock): boolean {
  if (block.kind !== 'tool_result') return false;
  const { toolName = '' } = originHints(block);
  if (
    CONVERSATION_TOOL.test(toolName) ||
    INSTRUCTION_TOOL.test(toolName) ||
    COMMUNICATION_TOOL.test(toolName)
  )
    return true;
  return namesInstructions(JSON.stringify(block.toolInput ?? ''));
}
