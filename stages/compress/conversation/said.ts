/**
 * Which results of tools are words of somebody: a person's answer, another agent's report, or
 * instructions. They are kept as what a user wrote is, since any sentence may be the one that counts.
 */
import { hintsOf } from './block-label.ts';
import type { ConversationBlock } from './blocks.ts';

/** Tools that hand on what a person or another agent said. */
const SPEAKS = /task|agent|ask|question|delegat|handoff|human|user|permission|plan/i;
/** Tools that hand out instructions. */
const INSTRUCTS = /skill|instruction|rule|guideline|feedback|approv/i;
/** Files that tell agents or contributors what to do, by their names and folders. */
const INSTRUCTIONS =
  /(?:^|[/\\])(?:(?:claude|agents?|gemini|qwen|crush|warp|skill|rules?|conventions|contributing|instructions)(?:\.[\w-]{1,40})?\.mdx?|[^/\\]{0,100}\.mdc|[^/\\]{0,100}instructions\.md|\.\w{1,20}rules(?:\.md)?)$|(?:^|[/\\])\.(?:claude|cursor|clinerules|codex|gemini|kiro|roo|windsurf)[/\\]/i;
/** Where one path ends and another may begin, in a call's input written as JSON. */
const BETWEEN = /[\s'"`=;|&<>(),[\]{}]+/;
const INPUT_CHARS = 2000;

/** True of a tool whose results nobody can be asked for once more: a person or another agent speaks. */
export function isSpoken(toolName: string): boolean {
  return SPEAKS.test(toolName);
}

/** True of a result in which no sentence may be left out. */
export function isSaid(block: ConversationBlock): boolean {
  if (block.kind !== 'tool_result') return false;
  const { toolName = '' } = hintsOf(block);
  if (SPEAKS.test(toolName) || INSTRUCTS.test(toolName)) return true;
  const input = JSON.stringify(block.toolInput ?? '').slice(0, INPUT_CHARS);
  return input
    .replaceAll('\\\\', '/')
    .split(BETWEEN)
    .some((word) => INSTRUCTIONS.test(word));
}
