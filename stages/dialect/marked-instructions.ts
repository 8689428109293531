/** Instructions for models that take them only before the conversation. */
import type { JsonObject } from './json-kind.ts';

/** True for instructions that hold until the user speaks again, and then stay in the conversation unseen. */
export function isForOneTurn({ role, clear_at: clearAt }: JsonObject): boolean {
  return role === 'system' && clearAt === 'next_user_message';
}

/** The text of the user that stands where instructions stood, marked so that a model can tell the two apart. */
export function markedInstructions(text: string): string {
  return `<system>\n${text}\n</system>`;
}
