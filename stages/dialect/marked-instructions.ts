/** Instructions for models that accept them only before the conversation. */
import type { JsonObject } from './json-kind.ts';

/**
 * Returns true for instructions that hold until the next user message, and then stay in the
 * conversation unseen.
 */
export function isForOneTurn({ role, clear_at: clearAt }: JsonObject): boolean {
  return role === 'system' && clearAt === 'next_user_message';
}

/**
 * Returns the user text that replaces instructions, marked so that a model can distinguish the two.
 */
export function markedInstructions(text: string): string {
  return `<system>\n${text}\n</system>`;
}
