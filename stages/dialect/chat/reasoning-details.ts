/**
 * `reasoning_details`: reasoning as a list of blocks, some signed or encrypted, that aggregators
 * require back with the calls unchanged [openrouter.ai/docs: preserving reasoning blocks]. In a
 * stream a text block grows over several deltas; an encrypted one comes whole.
 */
import type { JsonObject } from '../canonical.ts';
import { objectsOf, stringOf } from '../json-kind.ts';

/** The members that grow. */
const GROWING = ['text', 'summary'] as const;

/** The blocks of one message as they arrive. */
export type ReasoningDetails = ReturnType<typeof createReasoningDetails>;

export function createReasoningDetails() {
  const blocks: JsonObject[] = [];
  return {
    /** Adds the blocks of one delta; returns the new readable text. */
    add(details: unknown): string {
      const known = blocks.length;
      let text = '';
      for (const detail of objectsOf(details)) {
        text += GROWING.map((name) => stringOf(detail[name]) ?? '').join('');
        // Blocks of the same delta are always different blocks, whatever their numbers.
        const at = blocks.slice(0, known).findLastIndex((block) => continues(block, detail));
        if (at < 0) blocks.push(detail);
        else blocks[at] = extended(blocks[at]!, detail);
      }
      return text;
    },
    all: (): readonly JsonObject[] => blocks,
  };
}

function continues(block: JsonObject, detail: JsonObject): boolean {
  const isText = detail.type === 'reasoning.text' || detail.type === 'reasoning.summary';
  return isText && block.type === detail.type && String(block.index) === String(detail.index);
}

function extended(block: JsonObject, detail: JsonObject): JsonObject {
  const whole: Record<string, unknown> = { ...block };
  for (const [name, value] of Object.entries(detail))
    if (value !== null && value !== undefined) whole[name] = value;
  for (const name of GROWING) {
    const text = (stringOf(block[name]) ?? '') + (stringOf(detail[name]) ?? '');
    if (text !== '') whole[name] = text;
  }
  return whole;
}
